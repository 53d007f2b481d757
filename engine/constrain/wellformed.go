package constrain

import "fmt"

// maxClosing bounds, in bytes, what may still be missing to an end. What lies farther away is treated as if it led nowhere;
// that bounds nesting, since every open bracket has one byte to come.
const maxClosing = 1<<16 - 1

// lengths returns for each node the bytes of the shortest text it matches, when only bytes of spellable may be used; maxClosing
// for none, or none so short.
func (g *grammar) lengths(spellable byteSet) []int32 {
	lengths := make([]int32, len(g.nodes))
	for i := range lengths {
		lengths[i] = maxClosing
	}
	// Parts have lower numbers than what they are part of, so a pass only misses what came through rules.
	for changed := true; changed; {
		changed = false
		for i := range g.nodes {
			if n := g.length(expr(i), lengths, spellable); n < lengths[i] {
				lengths[i], changed = n, true
			}
		}
	}
	return lengths
}

// length is that of one node from those of its parts.
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

// checkLeftRecursion refuses a rule that can begin with itself: its stacks would grow without a byte being read.
func (g *grammar) checkLeftRecursion() error {
	lengths := g.lengths(everyByte())
	state := make([]uint8, len(g.rules)) // 0 unseen, 1 open, 2 done
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
	for todo := []expr{e}; len(todo) > 0; {
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
