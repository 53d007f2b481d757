package constrain

import "fmt"

// beyond is more tokens than any reply has.
const beyond int32 = 1 << 30

// tokensToClose returns how many tokens finish the reply from state s, spelled as its closing: 0 where it may end, beyond where
// it cannot, or where the work on it ended.
//
// The closing is found byte by byte: of the bytes that lead one byte nearer to an end, the first. Which text that is depends on
// nothing but the texts that are still possible, so after a part of a closing the rest of it is the closing.
func (a *automaton) tokensToClose(s int32, v *Vocabulary) int32 {
	if a.states[s].bytes >= maxClosing {
		return beyond
	}
	var path []int32
	for at := s; a.states[at].closingCount == unknown; at = a.states[at].closingNext {
		if a.states[at].bytes == 0 {
			a.states[at].closingCount = 0
			break
		}
		if !a.approach(at) {
			return beyond
		}
		path = append(path, at)
	}
	for i := len(path) - 1; i >= 0; i-- {
		if a.states[path[i]].closingCount = a.spell(path[i], v); !a.work.did(1, 0) {
			return beyond
		}
	}
	return a.states[s].closingCount
}

// approach finds the first byte of the closing of s.
func (a *automaton) approach(s int32) bool {
	nearer := a.nearer(s)
	for i := range 256 {
		b := byte('0' + i) // digits and letters first: of all shortest texts these read best
		if !nearer.has(b) {
			continue
		}
		if next := a.step(s, b); a.states[next].bytes == a.states[s].bytes-1 {
			a.states[s].closingByte, a.states[s].closingNext = b, next
			return true
		}
	}
	a.work.fail(fmt.Errorf("a state that should close within %d bytes does not; this is an error of the program", a.states[s].bytes))
	return false
}

// nearer are the bytes that may lead one byte nearer to an end: those that the stacks nearest to one expect.
func (a *automaton) nearer(s int32) byteSet {
	if s == a.leading {
		return a.spellable // its stacks do not count a space that is not shown
	}
	var set byteSet
	for _, id := range a.states[s].stacks {
		if id != 0 && a.toEnd[id] == a.states[s].bytes {
			set = set.union(a.g.sets[a.g.nodes[a.stacks[id].top].a])
		}
	}
	return set.and(a.spellable)
}

// spell returns the fewest tokens that spell the closing of s, when those of every later part of it are known.
func (a *automaton) spell(s int32, v *Vocabulary) int32 {
	best := beyond
	node := unknown
	for at := s; a.states[at].bytes > 0; {
		if node = v.child(node, a.states[at].closingByte); node == unknown {
			break
		}
		at = a.states[at].closingNext
		if v.own[node] > 0 {
			best = min(best, a.states[at].closingCount+1)
		}
	}
	return best
}
