package engine

import "fmt"

// vocabulary is what must agree between draft model and target, so that an id means the same to both.
type vocabulary interface {
	VocabSize() int
	Token(id int32) string
	IsControl(id int32) bool
	StopTokens() []int32
}

// compareVocabularies returns "" if each id of draft means the same in target, else a sentence that names
// the broken rule. Padding at the end may make one vocabulary longer: the proposer masks ids that the target
// lacks.
func compareVocabularies(target, draft vocabulary) string {
	n := min(target.VocabSize(), draft.VocabSize())
	const maxPadding = 1024
	if d := target.VocabSize() - draft.VocabSize(); d > maxPadding || d < -maxPadding {
		return fmt.Sprintf("rule «same size»: the target has %d tokens, the draft %d", target.VocabSize(), draft.VocabSize())
	}
	for id := range int32(n) {
		a, b := target.Token(id), draft.Token(id)
		if a != b {
			return fmt.Sprintf("rule «same token for every id»: id %d is %.40q in the target and %.40q in the draft", id, a, b)
		}
		if target.IsControl(id) != draft.IsControl(id) {
			return fmt.Sprintf("rule «same control tokens»: %.40q (id %d) is a control token in only one of the two", a, id)
		}
	}
	stops := map[int32]bool{}
	for _, id := range target.StopTokens() {
		stops[id] = true
	}
	for _, id := range draft.StopTokens() {
		if int(id) < n && !stops[id] {
			return fmt.Sprintf("rule «same stop tokens»: the draft ends a reply with %.40q (id %d), the target does not", draft.Token(id), id)
		}
	}
	return ""
}
