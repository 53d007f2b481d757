package constrain

import "container/list"

// mask has the tokens that may follow in a state.
type mask struct {
	state   int32
	allowed []uint64 // one bit for each id, stop tokens included
	// far is the length in bytes of the longest closing after an allowed token. A closing has at most
	// as many tokens as bytes. So if far or more tokens may come after the next token, each allowed
	// token leaves room for its closing. Then, which is nearly always so, the field closing is not
	// needed.
	far int32
	// closing has, by id, the number of tokens of the closing after that token; nil until it is needed.
	closing []uint16
}

// masks caches the masks that were used last.
type masks struct {
	byState map[int32]*list.Element
	used    *list.List // its elements are *mask, the most recently used first
	bytes   int        // the memory of all masks
	walk    []int32    // scratch: the states along the path to a node
}

// maxMaskBytes is the largest size of the cache. With a vocabulary of 152,000 tokens a mask takes 19
// kB, and near the end of a reply 300 kB more.
const maxMaskBytes = 64 << 20

func newMasks() *masks {
	return &masks{byState: map[int32]*list.Element{}, used: list.New(), walk: make([]int32, maxTokenBytes+1)}
}

// of returns the mask of a state. If the work of a has reached a limit, the mask may be wrong.
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

// keep notes that a mask, used, has grown; more is by how many bytes. While the cache has more than
// maxMaskBytes, keep drops the mask that was not used for the longest time, but never the one that has grown.
func (m *masks) keep(used *mask, more int) {
	m.bytes += more
	for m.bytes > maxMaskBytes && m.used.Back().Value != used {
		oldest := m.used.Remove(m.used.Back()).(*mask)
		delete(m.byState, oldest.state)
		m.bytes -= oldest.size()
	}
}

func (m *mask) size() int { return 8*len(m.allowed) + 2*len(m.closing) }

// measure computes the field closing of a mask.
func (m *masks) measure(a *automaton, v *Vocabulary, of *mask) {
	if of.closing != nil {
		return
	}
	of.closing = make([]uint16, len(v.text))
	m.visit(a, v, of.state, func(id, next int32) {
		of.closing[id] = uint16(min(a.tokensToClose(next, v), maxClosing)) // never more tokens than bytes, so it fits
	})
	m.keep(of, 2*len(of.closing))
}

// visit calls found with each token that may follow state s, and with the state after the token.
func (m *masks) visit(a *automaton, v *Vocabulary, s int32, found func(id, next int32)) {
	m.walk[0] = s
	for node := int32(0); int(node) < len(v.last); {
		depth := v.depth[node]
		if node%1024 == 0 && !a.work.spend(128, 0) { // most steps are known already, so 1024 nodes count as 128 steps
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
