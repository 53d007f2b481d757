package engine

import (
	"strings"
	"unicode/utf8"

	"specula/tokenizer/chat"
)

// decoder turns ids into text. It holds back the bytes of an unfinished character until later ids complete
// that character.
type decoder interface {
	Next(id int32) string
	Flush() string
}

// text assembles a reply from its tokens and looks for stop strings. It holds back text that may be the
// beginning of a stop string until later tokens show whether it is one. So no part of a stop string that
// ends the reply is shown.
type text struct {
	decoder decoder
	stops   []string
	held    string          // decoded, not yet given out; shorter than the longest stop string
	out     strings.Builder // everything given out

	spell   func(id int32) string // the text of a control token; "" for every other token
	marks   chat.Marks            // the marks at the start and the end of a thought
	thought bool                  // the current token lies inside a thought
	recent  string                // the end of the decoded text, which may be the start of a mark
}

func newText(d decoder, stops []string) *text {
	return &text{decoder: d, stops: stops, spell: func(int32) string { return "" }}
}

// think turns on the recognition of thoughts. prompt is the end of the prompt, which may open a thought.
func (t *text) think(marks chat.Marks, prompt string, spell func(id int32) string) {
	t.marks, t.spell, t.thought = marks, spell, marks.OpenedBy(prompt)
}

// next takes a committed token and returns the text that it completes. stopped is true if a stop string
// ended the reply.
func (t *text) next(id int32) (s string, stopped bool) {
	decoded := t.decoder.Next(id)
	if control := t.spell(id); t.marks.Has(control) {
		decoded += control
	}
	t.follow(decoded)
	return t.release(t.held + decoded)
}

// follow notes where a thought begins and ends.
func (t *text) follow(decoded string) {
	for t.recent += decoded; t.marks.Open != ""; t.thought = !t.thought {
		mark := t.marks.Open
		if t.thought {
			mark = t.marks.Close
		}
		_, after, found := strings.Cut(t.recent, mark)
		if !found {
			t.recent = t.recent[len(t.recent)-heldBack(t.recent, []string{mark}):]
			return
		}
		t.recent = after
	}
}

// flush returns the text that is still held back, when a reply ends without a stop string.
func (t *text) flush() string {
	s, stopped := t.release(t.held + t.decoder.Flush())
	if !stopped {
		s += t.held
		t.out.WriteString(t.held)
	}
	t.held = ""
	return s
}

// release gives out the pending text up to the first stop string, or up to what may be the start of one.
func (t *text) release(pending string) (s string, stopped bool) {
	if at := firstStop(pending, t.stops); at >= 0 {
		t.held = ""
		t.out.WriteString(pending[:at])
		return pending[:at], true
	}
	keep := heldBack(pending, t.stops)
	s, t.held = pending[:len(pending)-keep], pending[len(pending)-keep:]
	t.out.WriteString(s)
	return s, false
}

// String is everything given out so far.
func (t *text) String() string { return t.out.String() }

// firstStop returns where the earliest stop string begins in s, or -1.
func firstStop(s string, stops []string) int {
	first := -1
	for _, stop := range stops {
		if stop == "" {
			continue
		}
		if at := strings.Index(s, stop); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// heldBack returns the length of the longest end of s that may be the start of a stop string.
func heldBack(s string, stops []string) int {
	longest := 0
	for _, stop := range stops {
		for n := min(len(stop)-1, len(s)); n > longest; n-- {
			if strings.HasSuffix(s, stop[:n]) && utf8.RuneStart(s[len(s)-n]) {
				longest = n
				break
			}
		}
	}
	return longest
}
