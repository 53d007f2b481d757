package constrain

import "fmt"

// beyond is a number of tokens larger than any reply has.
const beyond int32 = 1 << 30

// tokensToClose returns the number of tokens of the closing of state s: the text that finishes the
// reply. The number is 0 if the reply may end in s, and beyond if the reply cannot end or if the work has
// reached a limit.
//
// The closing is built byte by byte. Each byte is the first, in the order in which approach tries them, after
// which one byte less is needed to finish. So the closing is one of the shortest texts that finish the reply,
// and depends only on the state. Therefore, after part of a closing is written, the rest is the closing of the
// new state.
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
		if a.states[path[i]].closingCount = a.spell(path[i], v); !a.work.spend(1, 0) {
			return beyond
		}
	}
	return a.states[s].closingCount
}

// approach stores in the state s the first byte of the closing of s, and the state after that byte. If
// no byte makes the rest shorter, the program has a bug: approach stops the work with an error and
// returns false.
func (a *automaton) approach(s int32) bool {
	nearer := a.nearer(s)
	for i := range 256 {
		b := byte('0' + i) // begin with digits and letters: they are the most readable
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

// nearer returns the bytes after which one byte less may be needed to finish: the bytes that the stacks
// with the shortest completion expect.
func (a *automaton) nearer(s int32) byteSet {
	if s == a.leading {
		return a.spellable // the stacks of this state do not know about the hidden space
	}
	var set byteSet
	for _, id := range a.states[s].stacks {
		if id != 0 && a.toEnd[id] == a.states[s].bytes {
			set = set.union(a.g.sets[a.g.nodes[a.stacks[id].top].a])
		}
	}
	return set.and(a.spellable)
}

// spell returns the smallest number of tokens that spell the closing of s. closingCount of the other
// states along the closing must be known.
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
