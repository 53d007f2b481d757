package constrain

import (
	"container/heap"
	"fmt"
	"slices"
)

// maxClosing bounds closings: a state without a closing of less than maxClosing bytes counts as dead.
// This also bounds nesting, because each open bracket needs at least one byte to close.
const maxClosing = 1<<16 - 1

// lengths returns, for each node, the length in bytes of the shortest text that it matches with bytes
// of spellable only. The length is maxClosing if there is no such text, or none so short.
//
// It settles nodes in the order of their lengths (Knuth 1977). A node is never shorter than a part
// that it needs. So a settled length is final, and each node is visited once for each of its parts.
func (g *grammar) lengths(spellable byteSet) []int32 {
	lengths := make([]int32, len(g.nodes))
	for i := range lengths {
		lengths[i] = maxClosing
	}
	var open shortestFirst
	lower := func(e expr) {
		if n := g.length(e, lengths, spellable); n < lengths[e] {
			lengths[e] = n
			heap.Push(&open, measuredNode{n, e})
		}
	}
	for i := range lengths {
		lower(expr(i))
	}
	from, users := g.users()
	for len(open) > 0 && g.work.spend(1, 0) {
		m := heap.Pop(&open).(measuredNode)
		if lengths[m.node] < m.length {
			continue // the node was settled earlier, with a smaller length
		}
		for _, user := range users[from[m.node]:from[m.node+1]] {
			lower(user)
		}
	}
	return lengths
}

// shortestFirst is a heap of nodes.
type shortestFirst []measuredNode

type measuredNode struct {
	length int32
	node   expr
}

func (h shortestFirst) Len() int           { return len(h) }
func (h shortestFirst) Less(i, j int) bool { return h[i].length < h[j].length }
func (h shortestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *shortestFirst) Push(x any)        { *h = append(*h, x.(measuredNode)) }
func (h *shortestFirst) Pop() any {
	last := len(*h) - 1
	m := (*h)[last]
	*h = (*h)[:last]
	return m
}

// users returns, for each node e, the nodes that e is a part of: users[from[e]:from[e+1]].
func (g *grammar) users() (from []int32, users []expr) {
	from = make([]int32, len(g.nodes)+1)
	for _, n := range g.nodes {
		for _, part := range g.partsOf(n) {
			from[part+1]++
		}
	}
	for e := range g.nodes {
		from[e+1] += from[e]
	}
	users = make([]expr, from[len(g.nodes)])
	at := slices.Clone(from)
	for e, n := range g.nodes {
		for _, part := range g.partsOf(n) {
			users[at[part]] = expr(e)
			at[part]++
		}
	}
	return from, users
}

// partsOf returns the nodes that n is made of, with never for a missing one.
func (g *grammar) partsOf(n node) [2]expr {
	switch n.kind {
	case kindSeq, kindAlt:
		return [2]expr{expr(n.a), expr(n.b)}
	case kindRepeat, kindLabel:
		return [2]expr{expr(n.a), never}
	case kindRule:
		return [2]expr{g.rules[n.a], never}
	}
	return [2]expr{never, never}
}

// length returns the length in bytes of the shortest text that e matches. lengths must hold the lengths of
// the parts of e.
func (g *grammar) length(e expr, lengths []int32, spellable byteSet) int32 {
	n := g.nodes[e]
	switch n.kind {
	case kindEmpty, kindLabelEnd:
		return 0
	case kindBytes:
		if g.sets[n.a].meets(spellable) {
			return 1
		}
	case kindSeq:
		return min(lengths[n.a]+lengths[n.b], maxClosing)
	case kindAlt:
		return min(lengths[n.a], lengths[n.b])
	case kindRepeat:
		if n.min == 0 {
			return 0
		}
		return int32(min(int64(n.min)*int64(lengths[n.a]), maxClosing))
	case kindRule:
		return lengths[g.rules[n.a]]
	case kindLabel:
		return lengths[n.a]
	}
	return maxClosing
}

// checkLeftRecursion returns an error if a rule can begin with itself. Such a rule would make the
// stacks of an automaton grow without end before a byte is read.
func (g *grammar) checkLeftRecursion() error {
	lengths := g.lengths(everyByte())
	state := make([]uint8, len(g.rules)) // 0: not visited, 1: being visited, 2: visited
	var visit func(rule int32) error
	visit = func(rule int32) error {
		switch state[rule] {
		case 1:
			return fmt.Errorf("%s can begin with itself (left recursion), so it would never begin: put something in front, or repeat with *", g.ruleName[rule])
		case 2:
			return nil
		}
		state[rule] = 1
		for _, first := range g.firstRules(g.rules[rule], lengths) {
			if err := visit(first); err != nil {
				return err
			}
		}
		state[rule] = 2
		return nil
	}
	for rule := range g.rules {
		if err := visit(int32(rule)); err != nil {
			return err
		}
	}
	return nil
}

// firstRules returns the rules that e can begin with.
func (g *grammar) firstRules(e expr, lengths []int32) []int32 {
	var rules []int32
	seen := map[expr]bool{}
	for todo := []expr{e}; len(todo) > 0 && g.work.spend(1, 0); {
		e, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if seen[e] {
			continue
		}
		seen[e] = true
		n := g.nodes[e]
		switch n.kind {
		case kindRule:
			rules = append(rules, n.a)
		case kindRepeat, kindLabel:
			todo = append(todo, expr(n.a))
		case kindAlt:
			todo = append(todo, expr(n.a), expr(n.b))
		case kindSeq:
			todo = append(todo, expr(n.a))
			if lengths[n.a] == 0 {
				todo = append(todo, expr(n.b))
			}
		}
	}
	return rules
}
