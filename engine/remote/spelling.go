package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"specula/tokenizer"
)

// mostMissing limits how many ids of tokens one event may lack. A character has at most four bytes. If each is
// a token of its own, the event has the id of the last one and lacks three. The limit allows one more.
const mostMissing = utf8.UTFMax

// mostSpelt is the longest text, in bytes, whose tokens are searched for. The text of a few tokens is shorter.
const mostSpelt = 512

// spelling finds tokens by their bytes.
type spelling struct {
	bytes   func(id int32) []byte
	control func(id int32) bool
	parts   map[string][]int32 // key: a text that is not whole characters; value: the tokens with this text
	same    bool               // the server spells its tokens as this vocabulary does
}

func newSpelling(t *tokenizer.Tokenizer) spelling {
	s := spelling{bytes: t.Bytes, control: t.IsControl, parts: map[string][]int32{}}
	for id := range int32(t.VocabSize()) {
		if b := string(t.Bytes(id)); !utf8.ValidString(b) && !t.IsControl(id) {
			s.parts[b] = append(s.parts[b], id)
		}
	}
	return s
}

// compare finds out from some tokens whether the server spells tokens as this vocabulary does. Most
// servers do; then later differences are faults.
func (s *spelling) compare(list []llamaEntry) {
	s.same = len(list) > 0
	for _, e := range list {
		s.same = s.same && len(e.Bytes) > 0 && (s.control(e.ID) || s.spells(e.ID, e.Bytes))
	}
}

// check returns an error if the server spells a token in other bytes than the vocabulary here. It checks
// nothing unless same is set.
func (s *spelling) check(id int32, theirs []int) error {
	if s.same && len(theirs) > 0 && !s.control(id) && !s.spells(id, theirs) {
		return errSpelling(id)
	}
	return nil
}

// checkText returns an error if a token that came alone in an event of a stream has another text here. It
// checks nothing unless same is set.
func (s *spelling) checkText(id int32, text string) error {
	if s.same && text != "" && !s.control(id) && utf8.Valid(s.bytes(id)) && string(s.bytes(id)) != text {
		return errSpelling(id)
	}
	return nil
}

func errSpelling(id int32) error {
	return fmt.Errorf("%w: it spells token %d in other bytes than the vocabulary here; it may have another model now", errFalse, id)
}

func (s *spelling) spells(id int32, theirs []int) bool {
	return slices.EqualFunc(s.bytes(id), theirs, func(mine byte, its int) bool { return int(mine) == its })
}

// recover returns the n tokens before the token last, whose ids the server did not send. text is the text of
// the n tokens and of last together. If several sequences of tokens fit, recover returns an error instead of a
// guess.
func (s *spelling) recover(text string, last int32, n int) ([]int32, error) {
	if s.bytes == nil {
		return nil, errUntold
	}
	before, ok := strings.CutSuffix(text, string(s.bytes(last)))
	if !ok || len(before) > mostSpelt {
		return nil, errUntold
	}
	found := s.fits(before, n)
	if len(found) != 1 {
		return nil, errUntold
	}
	return found[0], nil
}

var errUntold = errors.New("the server did not tell which tokens make a character, and the text leaves it open: write this reply with speculation.enabled on and a fixed γ")

// fits returns the sequences of n tokens that have this text, each token from parts. It stops after two
// sequences.
func (s *spelling) fits(text string, n int) (found [][]int32) {
	if n == 1 {
		for _, id := range s.parts[text] {
			found = append(found, []int32{id})
		}
		return found[:min(len(found), 2)]
	}
	for i := 1; i < len(text) && len(found) < 2; i++ {
		for _, id := range s.parts[text[:i]] {
			for _, rest := range s.fits(text[i:], n-1) {
				found = append(found, append([]int32{id}, rest...))
			}
		}
	}
	return found[:min(len(found), 2)]
}
