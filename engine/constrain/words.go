package constrain

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of the text that Expects returns.
const (
	maxExpectedBytes  = 24 // the longest text that is shown as it is
	maxExpectedLabels = 3  // if more named parts may follow, the text is "a value"
	maxExpectedRanges = 6  // if more ranges of bytes may follow, the text is "a character"
)

// Expects returns a few words that tell what may follow: `"name":`, "a string", "one of , }", "end". It
// returns "" after a forbidden token.
func (s *Shaper) Expects() string {
	a, at := s.automaton, s.state()
	if at == dead {
		return ""
	}
	next := a.bytesAfter(at)
	orEnd := ""
	if a.accepts(at) {
		if next.size() == 0 {
			return "end"
		}
		orEnd = " or end"
	}
	if text := a.certain(at); len(text) > 1 {
		return quoted(text)
	}
	names, others := a.named(at)
	if len(names) > maxExpectedLabels {
		return "a value" + orEnd
	}
	if others.size() > 0 {
		words := inWords(others)
		if len(names) > 0 {
			words = strings.TrimPrefix(words, "one of ")
		}
		names = append(names, words)
	}
	return strings.Join(names, " or ") + orEnd
}

// maxForced bounds the text that Forced returns, in bytes.
const maxForced = 256

// Forced returns the text that must come next, because each byte of it is the only one that the form
// permits. It ends at the first choice, of which the end of the reply is one; optional white space is
// a choice. nil after a forbidden token, or if there is a choice at once.
func (s *Shaper) Forced() []byte {
	a, at := s.automaton, s.state()
	a.work.renew(s.ctx)
	var text []byte
	for at != dead && !a.accepts(at) && len(text) < maxForced {
		next := a.bytesAfter(at)
		if next.size() != 1 {
			break
		}
		text = append(text, next.list()[0])
		at = a.step(at, next.list()[0])
	}
	return text
}

// bytesAfter returns the bytes that may follow.
func (a *automaton) bytesAfter(s int32) byteSet {
	var set byteSet
	for _, id := range a.states[s].stacks {
		if id != 0 {
			set = set.union(a.g.sets[a.g.nodes[a.stacks[id].top].a])
		}
	}
	return set
}

// certain returns the text that must follow, up to the first choice or the first part with a name.
// Optional white space does not count as a choice.
func (a *automaton) certain(s int32) []byte {
	var text []byte
	for s != dead && !a.accepts(s) && len(text) <= maxExpectedBytes {
		next := withoutSpace(a.bytesAfter(s))
		if names, _ := a.named(s); next.size() != 1 || len(names) > 0 {
			break
		}
		text = append(text, next.list()[0])
		s = a.step(s, next.list()[0])
	}
	return text
}

func withoutSpace(set byteSet) byteSet {
	var space byteSet
	for _, b := range []byte(" \t\n") {
		space.add(b)
	}
	if rest := set.without(space); rest.size() > 0 {
		return rest
	}
	return set
}

// named returns the names of the parts that may follow. others has the bytes that may follow and belong
// to no part with a name.
func (a *automaton) named(s int32) (names []string, others byteSet) {
	visible := withoutSpace(a.bytesAfter(s))
	for _, id := range a.states[s].stacks {
		if id == 0 {
			continue
		}
		set := a.g.sets[a.g.nodes[a.stacks[id].top].a]
		if !set.meets(visible) {
			continue
		}
		if label := a.labels[id]; label == noLabel {
			others = others.union(set)
		} else if name := a.g.names[label]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, others
}

// quoted quotes text, which may contain control characters, and cuts it.
func quoted(text []byte) string {
	more := ""
	if len(text) > maxExpectedBytes {
		text, more = text[:maxExpectedBytes], "…"
	}
	q := fmt.Sprintf("%q", text)
	return "«" + strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) + more + "»"
}

// inWords lists the bytes of a set in a form for people.
func inWords(set byteSet) string {
	set = withoutSpace(set)
	bytes := set.list()
	var parts []string
	for i := 0; i < len(bytes); {
		j := i
		for j+1 < len(bytes) && bytes[j+1] == bytes[j]+1 {
			j++
		}
		switch {
		case bytes[i] >= 0x80:
			return "a character"
		case j-i < 2:
			j = i
			parts = append(parts, visible(bytes[i]))
		default:
			parts = append(parts, visible(bytes[i])+"–"+visible(bytes[j]))
		}
		i = j + 1
	}
	switch {
	case len(parts) > maxExpectedRanges:
		return "a character"
	case len(parts) == 1:
		return parts[0]
	}
	return "one of " + strings.Join(parts, " ")
}

func visible(b byte) string {
	switch {
	case b == ' ':
		return "space"
	case b == '\n':
		return "newline"
	case b == '\t':
		return "tab"
	case b < ' ' || b >= 0x7F:
		return fmt.Sprintf("0x%02X", b)
	}
	return string(rune(b))
}
