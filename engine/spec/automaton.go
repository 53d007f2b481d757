package spec

// countedLength is the length up to which a Suffix counts how often a stretch of text occurred; longer matches say no more.
const countedLength = 64

// border stands in front of every sequence of an automaton; no vocabulary has it.
const border int32 = -1

const (
	root   int32 = 0
	nobody int32 = -1
)

// automaton is the suffix automaton of the sequences a session has seen: the smallest graph in which every stretch of their
// tokens is a path from the root. Sequences that begin alike share their beginning, which counts once; so a chat whose prompt
// repeats its own history adds only what is new. It grows by a token in constant time, amortised, and knows of every stretch of
// up to horizon tokens how often it occurred. (Blumer et al., "The smallest automaton recognizing the subwords of a text", 1985)
//
// A state stands for all stretches that end at the same places: a longest one and, down to one longer than its link's longest, the
// ends of it. The link leads to the state of the next shorter end, which occurred elsewhere too.
type automaton struct {
	states []state
	edges  []edge
	lookup map[uint64]int32 // of an edge by the state it leaves and its token
	tokens int              // added, shared beginnings once

	horizon int32 // at least 2

	last int32 // the state of the whole sequence being read
	tail stretch
}

type state struct {
	longest int32
	link    int32 // nobody at the root
	first   int32 // of its edges; nobody: none
	count   int32 // occurrences, true as long as the shortest stretch of the state is no longer than horizon
}

type edge struct {
	token, to int32
	next      int32 // of the same state's edges
}

// stretch is one of the stretches that a state stands for.
type stretch struct {
	state  int32
	length int32
}

func newAutomaton(horizon int32) *automaton {
	return &automaton{horizon: horizon, states: []state{{link: nobody, first: nobody}}, lookup: map[uint64]int32{}}
}

// start begins a sequence.
func (a *automaton) start() {
	a.last, a.tail = root, stretch{}
	a.add(border)
}

// add reads a token behind the sequence begun last.
func (a *automaton) add(token int32) {
	a.tail = a.settled(a.tail)
	known, found := a.follow(a.last, token)
	if found {
		// Nothing stands before a border, so the longest stretch of this state is the sequence itself: it began alike before.
		a.last = known
	} else {
		a.grow(token)
	}
	to, _ := a.follow(a.tail.state, token)
	a.tail = a.shortened(stretch{to, a.tail.length + 1}, a.horizon)
	if found {
		return
	}
	a.tokens++
	for s := a.tail.state; s != root; s = a.states[s].link {
		a.states[s].count++
	}
}

// grow makes a state for the sequence with one more token, and gives every end of it that is new that way to go on.
func (a *automaton) grow(token int32) {
	grown := a.state(a.states[a.last].longest + 1)
	from := a.last
	for ; from != nobody; from = a.states[from].link {
		if _, ok := a.follow(from, token); ok {
			break
		}
		a.connect(from, token, grown)
	}
	a.last = grown
	if from == nobody {
		a.states[grown].link = root
		return
	}
	to, _ := a.follow(from, token)
	if a.states[to].longest != a.states[from].longest+1 {
		to = a.split(from, token, to)
	}
	a.states[grown].link = to
}

// split takes out of state to the stretches no longer than the longest of from with token behind: they now end at a place more.
func (a *automaton) split(from, token, to int32) int32 {
	part := a.state(a.states[from].longest + 1)
	a.states[part].link, a.states[part].count = a.states[to].link, a.states[to].count
	a.states[to].link = part
	last := nobody
	for e := a.states[to].first; e != nobody; e = a.edges[e].next {
		copied := a.edge(part, a.edges[e].token, a.edges[e].to)
		if last == nobody {
			a.states[part].first = copied
		} else {
			a.edges[last].next = copied
		}
		last = copied
	}
	for ; from != nobody; from = a.states[from].link {
		e, ok := a.lookup[leaving(from, token)]
		if !ok || a.edges[e].to != to {
			break
		}
		a.edges[e].to = part
	}
	return part
}

func (a *automaton) state(longest int32) int32 {
	a.states = append(a.states, state{longest: longest, link: nobody, first: nobody})
	return int32(len(a.states) - 1)
}

// edge makes an edge that is in nobody's list yet.
func (a *automaton) edge(from, token, to int32) int32 {
	e := int32(len(a.edges))
	a.edges = append(a.edges, edge{token: token, to: to, next: nobody})
	a.lookup[leaving(from, token)] = e
	return e
}

// connect puts the new edge first, so that among equals the one seen last comes first.
func (a *automaton) connect(from, token, to int32) {
	e := a.edge(from, token, to)
	a.edges[e].next = a.states[from].first
	a.states[from].first = e
}

func leaving(state, token int32) uint64 { return uint64(uint32(state))<<32 | uint64(uint32(token)) }

func (a *automaton) follow(from, token int32) (to int32, ok bool) {
	e, ok := a.lookup[leaving(from, token)]
	if !ok {
		return root, false
	}
	return a.edges[e].to, true
}

// settled finds a stretch again after its state may have been split.
func (a *automaton) settled(s stretch) stretch {
	for s.length > 0 && a.states[a.states[s.state].link].longest >= s.length {
		s.state = a.states[s.state].link
	}
	return s
}

// shortened is the end of a stretch, of at most so many tokens.
func (a *automaton) shortened(s stretch, most int32) stretch {
	s.length = min(s.length, most)
	return a.settled(s)
}

// shorter is the longest end of a stretch that occurred in more places; its length is 0 when there is none.
func (a *automaton) shorter(s stretch) stretch {
	if s.state == root {
		return stretch{}
	}
	link := a.states[s.state].link
	return stretch{link, a.states[link].longest}
}

// matched is the longest end of a stretch behind which something came before; its length is 0 when there is none. It is short
// enough for what came to be counted.
func (a *automaton) matched(s stretch) stretch {
	s = a.shortened(s, a.horizon-1)
	for s.length > 0 && a.states[s.state].first == nobody {
		s = a.shorter(s)
	}
	return s
}

// next is what came most often behind a stretch, how often, and how often anything came.
func (a *automaton) next(s stretch) (token int32, behind stretch, count, total int) {
	for e := a.states[s.state].first; e != nobody; e = a.edges[e].next {
		n := int(a.states[a.edges[e].to].count)
		total += n
		if n > count {
			token, count, behind = a.edges[e].token, n, stretch{a.edges[e].to, s.length + 1}
		}
	}
	return token, behind, count, total
}
