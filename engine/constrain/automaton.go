package constrain

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

// dead is the state of a text that cannot be completed.
const dead int32 = 0

// maxStacks is the largest number of stacks in one state.
const maxStacks = 1 << 10

// Approximate memory of a stack and of a state, with their entries in maps.
const (
	stackBytes = 64
	stateBytes = 256
)

// noLabel marks a stack whose top belongs to no part with a name.
const noLabel int32 = -1

// stack has the parts of the text that are still expected, as a linked list: top is the next part, and
// below the number of the stack with the parts after top. Number 0 is the empty stack: nothing more is
// expected.
type stack struct {
	top   expr
	below int32
}

// state is a set of stacks. Each has a terminal on top, or is the empty stack.
type state struct {
	stacks []int32 // ascending
	next   []int32 // for each class of byte: the next state; unknown until asked for
	bytes  int32   // length of the shortest text that completes the form; maxClosing if there is none below that length
	// closingByte is the first byte of the closing (see tokensToClose), and closingNext the state
	// after it. closingCount is the number of tokens of the closing; unknown until asked for.
	closingByte  byte
	closingNext  int32
	closingCount int32
}

const unknown int32 = -1

// automaton runs a grammar on bytes. It computes a state when it is first reached. After work has
// reached a limit, do not use the automaton any more: its last answers may be wrong.
type automaton struct {
	work      *work
	g         *grammar
	spellable byteSet    // bytes that are single tokens
	class     [256]uint8 // the class of each byte (see partition)
	first     []byte     // a byte of each class

	lengths  []int32 // for each node: the length in bytes of the shortest text that it matches
	stacks   []stack
	toEnd    []int32 // for each stack: the length in bytes of the shortest text that completes it
	labels   []int32 // for each stack: the index of the name of the part that its top belongs to, or noLabel
	stackIDs map[stack]int32
	states   []state
	stateIDs map[string]int32
	start    int32

	leading int32 // the state made by withLead; unknown if there is none

	marks []uint32 // for each stack: the value of mark in the last call of open that visited the stack
	mark  uint32
}

// newAutomaton returns an automaton at the beginning of c. lead means that a space at the beginning of
// a reply is not shown, so that it is not part of the text.
func newAutomaton(ctx context.Context, c *Constraint, spellable byteSet, lead bool) *automaton {
	w := newWork(ctx)
	a := &automaton{
		work: w, g: c.g.clone(w), spellable: spellable, leading: unknown,
		stackIDs: map[stack]int32{}, stateIDs: map[string]int32{},
	}
	var space byteSet
	space.add(' ')
	a.class, a.first = partition(append(slices.Clone(a.g.sets), space, spellable))
	a.lengths = a.g.lengths(spellable)
	a.stacks, a.toEnd, a.labels, a.marks = []stack{{}}, []int32{0}, []int32{noLabel}, []uint32{0}
	a.newState(nil) // dead
	if root, ok := a.push(c.root, 0); ok {
		a.start = a.intern(a.open([]int32{root}))
	}
	if lead {
		a.start = a.withLead(a.start)
	}
	return a
}

// withLead returns a new start for replies whose leading space is not shown; s is the start without such a
// space. From the new start a space leads to s, because it is not part of the text. Every other byte leads
// where it leads from s.
func (a *automaton) withLead(s int32) int32 {
	id := a.newState(a.states[s].stacks)
	a.leading = id
	least := a.states[s].bytes
	if least > 0 && least < maxClosing {
		least++
		for c, b := range a.first {
			if b != ' ' && a.spellable.has(b) {
				n := a.step(s, b)
				a.states[id].next[c] = n
				least = min(least, a.states[n].bytes+1)
			}
		}
	}
	a.states[id].next[a.class[' ']] = s
	a.states[id].bytes = least
	return id
}

func (a *automaton) accepts(s int32) bool {
	stacks := a.states[s].stacks
	return len(stacks) > 0 && stacks[0] == 0
}

// step returns the state after byte b.
func (a *automaton) step(s int32, b byte) int32 {
	c := a.class[b]
	if next := a.states[s].next[c]; next != unknown {
		return next
	}
	next := a.read(s, b)
	a.states[s].next[c] = next
	return next
}

// run steps through text.
func (a *automaton) run(s int32, text []byte) int32 {
	for _, b := range text {
		if s == dead {
			return dead
		}
		s = a.step(s, b)
	}
	return s
}

func (a *automaton) read(s int32, b byte) int32 {
	if s == dead || a.work.err != nil {
		return dead
	}
	var below []int32
	for _, id := range a.states[s].stacks {
		if id != 0 && a.g.sets[a.g.nodes[a.stacks[id].top].a].has(b) {
			below = append(below, a.stacks[id].below)
		}
	}
	return a.intern(a.open(below))
}

// push puts e on the stack with the number below, and returns the number of the new stack. It returns false if
// the new stack needs maxClosing bytes or more to complete, or if the work has reached a limit.
func (a *automaton) push(e expr, below int32) (int32, bool) {
	if e == empty {
		return below, true
	}
	end := a.lengths[e] + a.toEnd[below]
	if end >= maxClosing {
		return 0, false
	}
	s := stack{e, below}
	id, ok := a.stackIDs[s]
	if !ok {
		if !a.work.spend(4, stackBytes) {
			return 0, false
		}
		id = int32(len(a.stacks))
		a.stacks = append(a.stacks, s)
		a.toEnd = append(a.toEnd, end)
		a.marks = append(a.marks, 0)
		label := a.labels[below]
		if n := a.g.nodes[e]; n.kind == kindLabelEnd {
			label = n.a
		}
		a.labels = append(a.labels, label)
		a.stackIDs[s] = id
	}
	return id, true
}

// open expands stacks until each has a terminal on top, or is empty.
func (a *automaton) open(todo []int32) []int32 {
	a.mark++
	var out []int32
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if a.marks[id] == a.mark {
			continue
		}
		a.marks[id] = a.mark
		s := a.stacks[id]
		if id == 0 || a.g.nodes[s.top].kind == kindBytes {
			out = append(out, id)
			continue
		}
		if len(out)+len(todo) > maxStacks {
			a.work.fail(fmt.Errorf("it can be read in more than %d ways at once: %s", maxStacks, smaller))
		}
		if !a.work.spend(1, 0) {
			return nil
		}
		todo = a.expand(todo, a.g.nodes[s.top], s.below)
	}
	return out
}

// expand appends the stacks that replace a stack whose top is n.
func (a *automaton) expand(todo []int32, n node, below int32) []int32 {
	add := func(e expr, below int32) {
		if id, ok := a.push(e, below); ok {
			todo = append(todo, id)
		}
	}
	switch n.kind {
	case kindSeq:
		if rest, ok := a.push(expr(n.b), below); ok {
			add(expr(n.a), rest)
		}
	case kindAlt:
		add(expr(n.a), below)
		add(expr(n.b), below)
	case kindRepeat:
		if n.min == 0 {
			add(empty, below)
		}
		if rest, ok := a.push(a.again(n), below); ok {
			add(expr(n.a), rest)
		}
	case kindRule:
		add(a.g.rules[n.a], below)
	case kindLabel:
		if end, ok := a.push(a.labelEnd(n.b), below); ok {
			add(expr(n.a), end)
		}
	case kindLabelEnd:
		add(empty, below)
	}
	return todo
}

// again returns what may follow after one match of a repetition: the repetition with both counts
// lowered by one.
func (a *automaton) again(n node) expr {
	high := n.max
	if high != unlimited {
		high--
	}
	return a.measured(a.g.repeat(expr(n.a), max(n.min-1, 0), high))
}

func (a *automaton) labelEnd(name int32) expr {
	return a.measured(a.g.make(node{kind: kindLabelEnd, a: name}))
}

// measured returns e. If e is a new node of the grammar, measured first appends e's length to
// a.lengths.
func (a *automaton) measured(e expr) expr {
	if int(e) == len(a.lengths) {
		a.lengths = append(a.lengths, a.g.length(e, a.lengths, a.spellable))
	}
	return e
}

// intern returns the state of a set of stacks, and makes it if it is new.
func (a *automaton) intern(stacks []int32) int32 {
	if len(stacks) == 0 {
		return dead
	}
	slices.Sort(stacks)
	key := make([]byte, 0, 4*len(stacks))
	for _, id := range stacks {
		key = binary.LittleEndian.AppendUint32(key, uint32(id))
	}
	if id, ok := a.stateIDs[string(key)]; ok {
		return id
	}
	if !a.work.spend(len(stacks), stateBytes+4*len(a.first)+12*len(stacks)) {
		return dead
	}
	id := a.newState(stacks)
	a.stateIDs[string(key)] = id
	return id
}

func (a *automaton) newState(stacks []int32) int32 {
	s := state{stacks: stacks, next: make([]int32, len(a.first)), bytes: maxClosing, closingCount: unknown}
	for i := range s.next {
		s.next[i] = unknown
	}
	for _, id := range stacks {
		s.bytes = min(s.bytes, a.toEnd[id])
	}
	a.states = append(a.states, s)
	return int32(len(a.states) - 1)
}
