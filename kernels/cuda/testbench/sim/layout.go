package sim

import (
	"fmt"
	"slices"
)

// flow says where control goes after a step.
type flow byte

const (
	onward     flow = iota // to the next step
	jump                   // to targets[0]
	table                  // to the target whose index is in the register selector
	finish                 // the thread ends
	meeting                // waits for the lanes of a mask
	rendezvous             // waits for all threads of the block
)

// step is an instruction that is ready to run.
type step struct {
	flow     flow
	guard    int // predicate, or -1
	negated  bool
	execute  execute
	targets  []int // indices of the code
	selector int   // a register
	mask     int   // register with the lanes of a meeting; -1: the whole warp
	source   *instruction
}

// part is a basic block: the steps from first to last−1.
type part struct {
	first, last int
	next        []int // parts that may follow; the first one follows if the part does not jump
}

// layOut orders the basic blocks. A block comes after all blocks that lead to it, except along the
// backward edges of loops. The blocks of a loop stay together, before the code after the loop. A warp
// always runs its lanes at the lowest place first; with this order they meet again as early as
// possible. Source: Bourdoncle, Efficient chaotic iteration strategies with widenings, 1993.
func layOut(steps []step) ([]step, error) {
	parts, err := cut(steps)
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	o := &orderer{parts: parts, number: make([]int, len(parts))}
	o.visit(0)
	slices.Reverse(o.list)
	var code []step
	begin := make([]int, len(parts))
	for position, at := range o.list {
		begin[at] = len(code)
		p := parts[at]
		code = append(code, steps[p.first:p.last]...)
		through := -1
		if falls(&steps[p.last-1]) {
			through = p.next[0]
		}
		if through >= 0 && (position+1 == len(o.list) || o.list[position+1] != through) {
			code = append(code, step{flow: jump, guard: -1, targets: []int{parts[through].first}, source: steps[p.last-1].source})
		}
	}
	partAt := map[int]int{}
	for i, p := range parts {
		partAt[p.first] = i
	}
	for i := range code {
		targets := make([]int, len(code[i].targets))
		for j, t := range code[i].targets {
			targets[j] = begin[partAt[t]]
		}
		code[i].targets = targets
	}
	return code, nil
}

// falls reports whether control may go from s to the step after it.
func falls(s *step) bool {
	return s.guard >= 0 || s.flow != jump && s.flow != table && s.flow != finish
}

// cut finds the basic blocks.
func cut(steps []step) ([]part, error) {
	begins := make([]bool, len(steps)+1)
	begins[0] = true
	for i := range steps {
		s := &steps[i]
		for _, t := range s.targets {
			if t >= len(steps) {
				return nil, fmt.Errorf("line %d: a branch leads after the last instruction", s.source.line)
			}
			begins[t] = true
		}
		if s.flow == jump || s.flow == table || s.flow == finish {
			begins[i+1] = true
		}
	}
	var parts []part
	of := make([]int, len(steps))
	for i := range steps {
		if begins[i] {
			parts = append(parts, part{first: i})
		}
		of[i] = len(parts) - 1
		parts[len(parts)-1].last = i + 1
	}
	for i := range parts {
		last := &steps[parts[i].last-1]
		if falls(last) {
			if parts[i].last == len(steps) {
				return nil, fmt.Errorf("line %d: control runs over the end of the kernel", last.source.line)
			}
			parts[i].next = append(parts[i].next, of[parts[i].last])
		}
		for _, t := range last.targets {
			parts[i].next = append(parts[i].next, of[t])
		}
	}
	return parts, nil
}

// orderer computes Bourdoncle's weak topological order, last block first.
type orderer struct {
	parts  []part
	number []int // by depth-first search; 0: not seen
	count  int
	stack  []int
	list   []int
}

const settled = int(^uint(0) >> 1)

func (o *orderer) visit(v int) int {
	o.stack = append(o.stack, v)
	o.count++
	o.number[v] = o.count
	head, loop := o.count, false
	for _, next := range o.parts[v].next {
		least := o.number[next]
		if least == 0 {
			least = o.visit(next)
		}
		if least <= head {
			head, loop = least, true
		}
	}
	if head != o.number[v] {
		return head
	}
	o.number[v] = settled
	for {
		top := o.stack[len(o.stack)-1]
		o.stack = o.stack[:len(o.stack)-1]
		if top == v {
			break
		}
		o.number[top] = 0 // visited again below, as part of the loop that begins at v
	}
	if loop {
		for _, next := range o.parts[v].next {
			if o.number[next] == 0 {
				o.visit(next)
			}
		}
	}
	o.list = append(o.list, v)
	return head
}
