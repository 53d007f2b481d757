package remote

import (
	"errors"
	"strings"
	"unicode/utf8"

	"specula/tokenizer"
)

// mostMissing is the most tokens whose ids one event can lack: a character has four bytes.
const mostMissing = utf8.UTFMax

// mostSpelt is the longest text, in bytes, whose tokens are searched for. A few tokens are shorter.
const mostSpelt = 512

// spelling finds tokens by their bytes.
type spelling struct {
	bytes func(id int32) []byte
	parts map[string][]int32 // tokens that end inside a character
}

func newSpelling(t *tokenizer.Tokenizer) spelling {
	s := spelling{bytes: t.Bytes, parts: map[string][]int32{}}
	for id := range int32(t.VocabSize()) {
		if b := string(t.Bytes(id)); !utf8.ValidString(b) && !t.IsControl(id) {
			s.parts[b] = append(s.parts[b], id)
		}
	}
	return s
}

// recover returns the n tokens before last, whose ids the server did not send, from the text of all of
// them. If several sequences of tokens fit, it returns an error instead of a guess.
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

// fits returns the sequences of n tokens with this text in which each token ends inside a character. It
// stops after two.
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
