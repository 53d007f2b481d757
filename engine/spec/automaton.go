package spec

// countedLength is the length in tokens of the longest sequences that a Suffix counts. Longer matches
// do not predict the next token better.
const countedLength = 64

// border is put before each sequence of an automaton. No vocabulary has this id.
const border int32 = -1

const (
	root   int32 = 0
	nobody int32 = -1 // no state, or no edge
)

// automaton is the suffix automaton of the token sequences that a session has seen: the smallest
// graph in which each substring of these sequences is a path from the root. A beginning that several
// sequences share counts once. So a chat adds only its new part, although its prompt repeats the
// history. Adding a token takes amortised constant time. The automaton knows how often each substring
// of up to horizon tokens occurred. (Blumer et al., "The smallest automaton recognizing the subwords
// of a text", 1985)
//
// A state stands for all substrings that end at the same positions. These are its longest one, and all
// suffixes of it that are longer than the longest substring of the state's link. The link leads to the
// state of the next shorter suffix, which also ends at other positions.
type automaton struct {
	states []state
	edges  []edge
	lookup map[uint64]int32 // index of an edge by leaving(state, token)
	tokens int              // tokens added; a shared beginning counts once

	horizon int32 // length in tokens of the longest substrings that are counted; at least 2

	last int32   // the state of the whole sequence that is being added
	tail stretch // the end of that sequence: its last horizon tokens
}

type state struct {
	longest int32 // length of its longest substring, in tokens
	link    int32 // the state that the link leads to; nobody at the root
	first   int32 // index of its first edge; nobody if it has none
	count   int32 // occurrences; exact only if the state's shortest substring has at most horizon tokens
}

type edge struct {
	token, to int32
	next      int32 // index of the next edge of the same state; nobody if it is the last
}

// stretch is one of the substrings that a state stands for.
type stretch struct {
	state  int32
	length int32
}

func newAutomaton(horizon int32) *automaton {
	return &automaton{horizon: horizon, states: []state{{link: nobody, first: nobody}}, lookup: map[uint64]int32{}}
}

// start begins a new sequence.
func (a *automaton) start() {
	a.last, a.tail = root, stretch{}
	a.add(border)
}

// add appends a token to the sequence that was started last.
func (a *automaton) add(token int32) {
	a.tail = a.settled(a.tail)
	known, found := a.follow(a.last, token)
	if found {
		// Nothing comes before a border, so the longest substring of this state is the whole sequence:
		// an earlier sequence began with the same tokens.
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

// grow makes a state for the sequence with token added. Each suffix of the sequence that had no edge
// for this token gets an edge to the new state.
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

// split makes a new state and moves some substrings of state «to» into it: the substrings that are at most
// one token longer than the longest substring of from. The moved substrings now end at one more position
// than those that stay.
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

// edge makes an edge. The caller puts it into a state's list.
func (a *automaton) edge(from, token, to int32) int32 {
	e := int32(len(a.edges))
	a.edges = append(a.edges, edge{token: token, to: to, next: nobody})
	a.lookup[leaving(from, token)] = e
	return e
}

// connect makes an edge and puts it first in its state's list. The method next takes the first of the
// tokens that followed equally often, so it prefers the newest edge.
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

// settled returns the stretch with the state that stands for it now. The state that the stretch names
// may have been split.
func (a *automaton) settled(s stretch) stretch {
	for s.length > 0 && a.states[a.states[s.state].link].longest >= s.length {
		s.state = a.states[s.state].link
	}
	return s
}

// shortened returns the last tokens of a stretch, as many as most says, or the whole stretch if it has
// fewer.
func (a *automaton) shortened(s stretch, most int32) stretch {
	s.length = min(s.length, most)
	return a.settled(s)
}

// shorter returns the longest suffix of a stretch that occurred more often than the stretch; a stretch of
// length 0 if there is none.
func (a *automaton) shorter(s stretch) stretch {
	if s.state == root {
		return stretch{}
	}
	link := a.states[s.state].link
	return stretch{link, a.states[link].longest}
}

// matched returns the longest suffix of a stretch that some token has followed before. Its length is 0 if
// there is none. It has at most horizon−1 tokens, so that its continuations, which have one token more,
// were counted.
func (a *automaton) matched(s stretch) stretch {
	s = a.shortened(s, a.horizon-1)
	for s.length > 0 && a.states[s.state].first == nobody {
		s = a.shorter(s)
	}
	return s
}

// next returns the token that followed a stretch most often, and the stretch with this token added.
// count is how often this token followed, total how often any token did.
func (a *automaton) next(s stretch) (token int32, following stretch, count, total int) {
	for e := a.states[s.state].first; e != nobody; e = a.edges[e].next {
		n := int(a.states[a.edges[e].to].count)
		total += n
		if n > count {
			token, count, following = a.edges[e].token, n, stretch{a.edges[e].to, s.length + 1}
		}
	}
	return token, following, count, total
}
