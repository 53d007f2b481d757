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
	bytes   int        // that they take
	walk    []int32    // scratch: the states on the way to a node
}

// maxMaskBytes bounds what is kept. With a vocabulary of 152,000 a mask takes 19 kB, and near the end of a reply 300 kB more.
const maxMaskBytes = 64 << 20

func newMasks() *masks {
	return &masks{byState: map[int32]*list.Element{}, used: list.New(), walk: make([]int32, maxTokenBytes+1)}
}

// of returns the mask of a state. Where the work of a has ended, it may be wrong.
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
	m.byState[s] = m.used.PushFront(made)
	m.keep(made, made.size())
	return made
}

// keep counts more bytes of a mask and forgets others if need be, those that were not used for the longest time.
func (m *masks) keep(used *mask, more int) {
	m.bytes += more
	for m.bytes > maxMaskBytes && m.used.Back().Value != used {
		oldest := m.used.Remove(m.used.Back()).(*mask)
		delete(m.byState, oldest.state)
		m.bytes -= oldest.size()
	}
}

func (m *mask) size() int { return 8*len(m.allowed) + 2*len(m.closing) }

// measure makes m.closing.
func (m *masks) measure(a *automaton, v *Vocabulary, of *mask) {
	if of.closing != nil {
		return
	}
	of.closing = make([]uint16, len(v.text))
	m.visit(a, v, of.state, func(id, next int32) {
		of.closing[id] = uint16(min(a.tokensToClose(next, v), maxClosing)) // no more tokens than bytes
	})
	m.keep(of, 2*len(of.closing))
}

// visit calls found with each token that may follow state s, and the state behind it.
func (m *masks) visit(a *automaton, v *Vocabulary, s int32, found func(id, next int32)) {
	m.walk[0] = s
	for node := int32(0); int(node) < len(v.last); {
		depth := v.depth[node]
		if node%1024 == 0 && !a.work.did(128, 0) { // a node on a known way takes little
			return
		}
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
