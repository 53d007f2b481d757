package constrain

import "container/list"

// mask says which tokens may follow a state.
type mask struct {
	state   int32
	allowed []uint64 // by id, one bit each; stop tokens included
	// far is the most bytes that are missing to an end behind an allowed token. As long as so many tokens are left, which is
	// nearly always, no token needs a closer look.
	far int32
	// closing holds, by id, the tokens to an end behind it; made when first needed.
	closing []uint16
}

// masks keeps the masks that were used last.
type masks struct {
	byState map[int32]*list.Element
	used    *list.List // of *mask, the latest in front
	walk    []int32    // scratch: the states on the way to a node
}

// maxMasks bounds what is kept: with a vocabulary of 152,000, 19 kB each and 300 kB more near the end of a reply.
const maxMasks = 256

func newMasks() *masks {
	return &masks{byState: map[int32]*list.Element{}, used: list.New(), walk: make([]int32, maxTokenBytes+1)}
}

// of returns the mask of a state.
func (m *masks) of(a *automaton, v *Vocabulary, s int32) *mask {
	if at, ok := m.byState[s]; ok {
		m.used.MoveToFront(at)
		return at.Value.(*mask)
	}
	made := &mask{state: s, allowed: make([]uint64, (len(v.text)+63)/64)}
	m.visit(a, v, s, func(id, next int32) {
		made.allowed[id>>6] |= 1 << (id & 63)
		made.far = max(made.far, a.states[next].bytes)
	})
	if a.accepts(s) {
		for _, id := range v.Stops {
			made.allowed[id>>6] |= 1 << (id & 63)
		}
	}
	if m.used.Len() >= maxMasks {
		oldest := m.used.Remove(m.used.Back()).(*mask)
		delete(m.byState, oldest.state)
	}
	m.byState[s] = m.used.PushFront(made)
	return made
}

// measure makes m.closing.
func (m *masks) measure(a *automaton, v *Vocabulary, of *mask) {
	if of.closing != nil {
		return
	}
	of.closing = make([]uint16, len(v.text))
	m.visit(a, v, of.state, func(id, next int32) {
		of.closing[id] = uint16(min(a.tokensToClose(next, v), maxClosing)) // no more tokens than bytes
	})
}

// visit calls found with each token that may follow state s, and the state behind it.
func (m *masks) visit(a *automaton, v *Vocabulary, s int32, found func(id, next int32)) {
	m.walk[0] = s
	for node := int32(0); int(node) < len(v.last); {
		depth := v.depth[node]
		next := a.step(m.walk[depth], v.last[node])
		if next == dead || a.states[next].bytes >= maxClosing {
			node = v.end[node]
			continue
		}
		m.walk[depth+1] = next
		for _, id := range v.tokens(node) {
			found(id, next)
		}
		node++
	}
}
