package engine

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"specula/engine/spec"
	"specula/tokenizer"
)

// lexicon maps between the vocabularies of target and draft model. It knows which tokens have the same
// text, and spells the other tokens by their text. It implements spec.Lexicon and spec.Texts, the two
// ways to translate a draft.
type lexicon struct {
	target, draft *tokenizer.Tokenizer
	toDraft       []int32         // for each target token: the draft token with the same text, or a stop token's partner; -1 for none
	stops         map[int32]int32 // for each stop token of the draft: the target's stop token with the same meaning; −1 for none
	common, texts int             // texts: number of the target's text tokens; common: how many of them the draft model has
}

// newLexicon compares two vocabularies. Text tokens are the same if their bytes are equal, control tokens
// if their names are equal. matchStops also pairs stop tokens of different names.
func newLexicon(target, draft *tokenizer.Tokenizer) *lexicon {
	l := &lexicon{target: target, draft: draft, toDraft: make([]int32, target.VocabSize()), stops: map[int32]int32{}}
	byBytes, byName := map[string]int32{}, map[string]int32{}
	for id := int32(draft.VocabSize()) - 1; id >= 0; id-- { // downwards, so that of several equal tokens the lowest id stays
		if draft.IsControl(id) {
			byName[draft.Token(id)] = id
		} else if b := draft.Bytes(id); len(b) > 0 {
			byBytes[string(b)] = id
		}
	}
	for id := range int32(len(l.toDraft)) {
		l.toDraft[id] = -1
		own, found := byName[target.Token(id)]
		if b := target.Bytes(id); len(b) > 0 && !target.IsControl(id) {
			own, found = byBytes[string(b)]
			l.texts++
			if found {
				l.common++
			}
		}
		if found {
			l.toDraft[id] = own
		}
	}
	l.matchStops()
	return l
}

// matchStops pairs the stop tokens of both models: first those with equal names, then the remaining ones of
// both in their order.
func (l *lexicon) matchStops() {
	mine, theirs := l.target.StopTokens(), l.draft.StopTokens()
	for _, own := range theirs {
		l.stops[own] = -1
	}
	mine = slices.DeleteFunc(mine, func(id int32) bool {
		_, matched := l.stops[l.toDraft[id]]
		if matched {
			l.stops[l.toDraft[id]] = id
		}
		return matched
	})
	for _, own := range theirs {
		if l.stops[own] < 0 && len(mine) > 0 {
			l.stops[own], l.toDraft[mine[0]] = mine[0], own
			mine = mine[1:]
		}
	}
}

// newDraftProposer makes the proposer of the draft model. If the vocabularies differ, that proposer
// translates its drafts.
func (e *Engine) newDraftProposer() (spec.Proposer, error) {
	own := e.draft.Config().Vocab
	switch {
	case e.lexicon == nil:
		return spec.NewDraftModel(e.draft, e.tokens.VocabSize(), own)
	case e.translate == "tokens":
		return spec.NewTranslatedDraft(e.draft, e.tokens.VocabSize(), own, e.lexicon)
	}
	return spec.NewRetold(e.draft, own, e.lexicon)
}

// byTokensShare is used if model.translate is auto: drafts are translated by tokens if the draft model has
// at least this fraction of the target's text tokens.
const byTokensShare = 0.5

// way returns how drafts are translated under a setting, by "tokens" or by "text", and why.
func (l *lexicon) way(setting string) (way, why string) {
	share := float64(l.common) / float64(max(l.texts, 1))
	why = fmt.Sprintf("%d of the target's %d text tokens are in the draft model's vocabulary, too", l.common, l.texts)
	if way = setting; way == "auto" {
		way = "text"
		if share >= byTokensShare {
			way = "tokens"
		}
	}
	if way == "tokens" {
		return way, "by common tokens: " + why
	}
	return way, "by text: " + why
}

// Spell appends draft tokens for target tokens. A token that the draft model lacks is spelled by its text.
func (l *lexicon) Spell(dst, target []int32) []int32 {
	var text []byte
	for _, id := range target {
		own := int32(-1)
		if int(id) < len(l.toDraft) {
			own = l.toDraft[id]
		}
		if own < 0 {
			text = append(text, l.bytes(id)...)
			continue
		}
		dst = append(l.SpellText(dst, text), own)
		text = text[:0]
	}
	return l.SpellText(dst, text)
}

// bytes returns the text of a target token. For a control token, that is its name.
func (l *lexicon) bytes(id int32) []byte {
	if l.target.IsControl(id) {
		return []byte(l.target.Token(id))
	}
	return l.target.Bytes(id)
}

// SpellText appends the draft tokens of a text.
func (l *lexicon) SpellText(dst []int32, text []byte) []int32 {
	if len(text) == 0 {
		return dst
	}
	return append(dst, l.draft.EncodeNext(string(text))...)
}

// Rescore copies scores of the draft model to the ids of the target. Tokens that the draft model lacks get −Inf.
func (l *lexicon) Rescore(dst, draft []float32) {
	masked := float32(math.Inf(-1))
	for id := range dst {
		dst[id] = masked
		if id < len(l.toDraft) {
			if own := l.toDraft[id]; own >= 0 && int(own) < len(draft) {
				dst[id] = draft[own]
			}
		}
	}
}

// Retell appends target tokens that spell the text of draft tokens. It stops at the first control
// token, and leaves out an unfinished character at the end. If the control token is a stop token with
// a counterpart in the target, Retell appends the counterpart.
func (l *lexicon) Retell(dst, draft []int32) []int32 {
	var text []byte
	for _, id := range draft {
		if l.draft.IsControl(id) {
			dst = append(dst, l.retellText(text)...)
			if stop, ends := l.stops[id]; ends && stop >= 0 {
				dst = append(dst, stop)
			}
			return dst
		}
		text = append(text, l.draft.Bytes(id)...)
	}
	return append(dst, l.retellText(text)...)
}

func (l *lexicon) retellText(text []byte) []int32 {
	return l.target.EncodeNext(string(wholeCharacters(text)))
}

// TargetBytes returns the text of a target token, nil for a control token.
func (l *lexicon) TargetBytes(id int32) []byte { return l.target.Bytes(id) }

// DraftBytes returns the text of a draft token, nil for a control token.
func (l *lexicon) DraftBytes(id int32) []byte { return l.draft.Bytes(id) }

// DraftStop reports whether a draft token ends a reply.
func (l *lexicon) DraftStop(id int32) bool {
	_, ends := l.stops[id]
	return ends
}

// wholeCharacters cuts an unfinished character off the end of text.
func wholeCharacters(text []byte) []byte {
	for n := 1; n <= min(utf8.UTFMax-1, len(text)); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}
