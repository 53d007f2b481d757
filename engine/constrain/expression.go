package constrain

import (
	"fmt"
	"slices"
)

// expr is the number of a node of a grammar. Equal nodes have the same number.
type expr int32

// Two nodes that each grammar has.
const (
	empty expr = 0 // the empty text
	never expr = 1 // no text at all
)

// kind says what a node matches. In the list below, a, b, min and max are the node's fields.
type kind uint8

const (
	kindEmpty    kind = iota
	kindNever         // no text at all
	kindBytes         // one byte of set a
	kindSeq           // a, then b
	kindAlt           // either a or b
	kindRepeat        // a, from min to max times
	kindRule          // rule a
	kindLabel         // a, whose name has index b
	kindLabelEnd      // the empty text; the parts above it on a stack have the name with index a
)

// node is one operation. It is comparable, so that equal nodes can be found in a map.
type node struct {
	kind     kind
	a, b     int32
	min, max int32 // the counts of kindRepeat; max may be unlimited
}

const unlimited = -1

// maxNodes is the largest number of nodes in a grammar. A node with its entry in known takes about
// nodeBytes.
const (
	maxNodes  = 1 << 18
	nodeBytes = 80
)

// grammar is a set of rules over bytes. Its methods make the nodes, and simplify them. The comment of
// such a method says which texts the new node matches.
type grammar struct {
	work     *work
	nodes    []node
	known    map[node]expr
	sets     []byteSet
	setIDs   map[byteSet]int32
	rules    []expr   // the expression of each rule; never until the rule is defined
	names    []string // the names that label gives
	ruleName []string // the name of each rule, for errors
	// patternBytes is the size of all regular expressions that were compiled for this grammar.
	patternBytes int
}

func newGrammar(w *work) *grammar {
	return &grammar{
		work: w, nodes: []node{{kind: kindEmpty}, {kind: kindNever}},
		known:  map[node]expr{{kind: kindEmpty}: empty, {kind: kindNever}: never},
		setIDs: map[byteSet]int32{},
	}
}

// make returns the number of the node n, and adds n if the grammar does not have it. After the work has
// reached a limit it returns never.
func (g *grammar) make(n node) expr {
	e, ok := g.known[n]
	if !g.work.spend(1, 0) {
		return never
	}
	if ok {
		return e
	}
	if len(g.nodes) >= maxNodes {
		g.work.fail(fmt.Errorf("it has more than %d parts: %s", maxNodes, smaller))
		return never
	}
	g.work.spend(0, nodeBytes)
	e = expr(len(g.nodes))
	g.nodes = append(g.nodes, n)
	g.known[n] = e
	return e
}

// clone copies g for an automaton, which may add nodes as part of the work w.
func (g *grammar) clone(w *work) *grammar {
	c := *g
	c.work = w
	c.nodes = append([]node(nil), g.nodes...)
	c.known = make(map[node]expr, len(g.known))
	for n, e := range g.known {
		c.known[n] = e
	}
	return &c
}

// oneOf matches one byte of set.
func (g *grammar) oneOf(set byteSet) expr {
	if set == (byteSet{}) {
		return never
	}
	id, ok := g.setIDs[set]
	if !ok {
		g.work.spend(1, nodeBytes)
		id = int32(len(g.sets))
		g.sets = append(g.sets, set)
		g.setIDs[set] = id
	}
	return g.make(node{kind: kindBytes, a: id})
}

// literal matches exactly text.
func (g *grammar) literal(text string) expr {
	e := empty
	for i := len(text) - 1; i >= 0; i-- {
		var set byteSet
		set.add(text[i])
		e = g.seq(g.oneOf(set), e)
	}
	return e
}

// literals matches any one of texts. Texts with a common beginning share its nodes, so that many
// choices do not need many stacks. literals sorts the slice texts.
func (g *grammar) literals(texts []string) expr {
	slices.Sort(texts)
	return g.branches(slices.Compact(texts), 0)
}

// branches matches any one of texts without its beginning: at is how many bytes the beginning has. It is the
// same in all texts. The texts are sorted and different.
func (g *grammar) branches(texts []string, at int) expr {
	if len(texts) == 1 {
		return g.literal(texts[0][at:])
	}
	// Take the whole common beginning in one step, so that recursion is only as deep as the texts branch.
	if n := commonPrefix(texts[0][at:], texts[len(texts)-1][at:]); n > 0 {
		return g.seq(g.literal(texts[0][at:at+n]), g.branches(texts, at+n))
	}
	var parts []expr
	for i := 0; i < len(texts) && g.work.spend(1, 0); {
		if len(texts[i]) == at {
			parts = append(parts, empty)
			i++
			continue
		}
		j := i + 1
		for j < len(texts) && texts[j][at] == texts[i][at] {
			j++
		}
		parts = append(parts, g.branches(texts[i:j], at))
		i = j
	}
	return g.alt(parts...)
}

// commonPrefix returns the length of the common prefix of two texts.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// seq matches its parts one after the other. Its nodes nest to the right, as in (a, (b, c)).
func (g *grammar) seq(parts ...expr) expr {
	e := empty
	for i := len(parts) - 1; i >= 0; i-- {
		e = g.then(parts[i], e)
	}
	return e
}

// then matches p and then e. It does not recurse along the sequence p, because a text may be long.
func (g *grammar) then(p, e expr) expr {
	if e == empty || p == never {
		return p
	}
	var front []expr
	for ; g.nodes[p].kind == kindSeq; p = expr(g.nodes[p].b) {
		front = append(front, expr(g.nodes[p].a))
	}
	front = append(front, p)
	for i := len(front) - 1; i >= 0 && e != never; i-- {
		if front[i] != empty {
			e = g.make(node{kind: kindSeq, a: int32(front[i]), b: int32(e)})
		}
	}
	return e
}

// alt matches any one of its parts. Without parts it matches no text at all.
func (g *grammar) alt(parts ...expr) expr {
	e := never
	for i := len(parts) - 1; i >= 0; i-- {
		p := parts[i]
		switch {
		case p == never || p == e:
		case e == never:
			e = p
		case g.nodes[p].kind == kindBytes && g.nodes[e].kind == kindBytes:
			e = g.oneOf(g.sets[g.nodes[p].a].union(g.sets[g.nodes[e].a]))
		default:
			e = g.make(node{kind: kindAlt, a: int32(p), b: int32(e)})
		}
	}
	return e
}

// repeat matches e from min to max times; max may be unlimited.
func (g *grammar) repeat(e expr, min, max int32) expr {
	switch {
	case max == 0 || e == empty:
		return empty
	case e == never && min == 0:
		return empty
	case e == never:
		return never
	case min == 1 && max == 1:
		return e
	}
	if n := g.nodes[e]; n.kind == kindRepeat && n.min == 0 && n.max == 1 { // an optional e, repeated
		return g.repeat(expr(n.a), 0, max)
	}
	return g.make(node{kind: kindRepeat, a: int32(e), min: min, max: max})
}

func (g *grammar) optional(e expr) expr { return g.repeat(e, 0, 1) }

// label gives e a name, which Shaper.Expects shows.
func (g *grammar) label(e expr, name string) expr {
	if e == never || e == empty {
		return e
	}
	for i, known := range g.names {
		if known == name {
			return g.make(node{kind: kindLabel, a: int32(e), b: int32(i)})
		}
	}
	g.names = append(g.names, name)
	return g.make(node{kind: kindLabel, a: int32(e), b: int32(len(g.names) - 1)})
}

// declare makes a rule that will be defined later, so that it can refer to itself. The name is for
// errors.
func (g *grammar) declare(name string) (rule int, e expr) {
	g.rules = append(g.rules, never)
	g.ruleName = append(g.ruleName, name)
	rule = len(g.rules) - 1
	return rule, g.make(node{kind: kindRule, a: int32(rule)})
}
