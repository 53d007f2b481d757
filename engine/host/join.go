package host

import "specula/kernels/cpu"

// joinedPhase is several phases in one. Its items are parts of the columns: heads, or columns of a
// feed-forward network. A part of a later phase needs only the same part of the earlier phases. So a
// thread goes on with its own part without waiting for other threads, and finds what it wrote in its
// own caches.
type joinedPhase struct {
	phases [mostJoined]struct {
		task  cpu.Task
		items int
	}
	n, parts int // number of phases, and of items
}

// mostJoined is the largest number of phases in a joinedPhase. Eight are enough for a product, the
// operations on its rows, and attention to several sequences.
const mostJoined = 8

func (p *joinedPhase) Do(from, to int) {
	for i := range p.phases[:p.n] {
		t := &p.phases[i]
		t.task.Do(from*t.items/p.parts, to*t.items/p.parts)
	}
}

// joinedPartsPerThread is the number of parts for each thread, if the columns can be divided so finely.
// With more parts, a delayed thread takes fewer of the remaining ones, but each call has less work.
const joinedPartsPerThread = 4

// join makes the program of a pass from the phases of the queue. If near is true (Backend.near), passes
// are so short that waiting at the end of each phase matters. Then a product and the following operations
// that can be divided in the same way become one phase.
func (q *queue) join(threads int, near bool) []cpu.Phase {
	q.program, q.joined = q.program[:0], q.joined[:0]
	for i := 0; i < len(q.phases); {
		n, parts := 1, 0
		if near && threads > 1 {
			n, parts = q.together(i, threads)
		}
		for j := range q.phases[i:][:n] {
			if rows, ok := q.phases[i+j].Task.(*rowPhase); ok {
				rows.divide(threads, parts)
				q.phases[i+j].Items = rows.items()
			}
		}
		if n == 1 {
			q.program = append(q.program, q.phases[i])
		} else {
			q.program = append(q.program, q.joinPhases(q.phases[i:][:n], parts))
		}
		i += n
	}
	return q.program
}

// divide divides the columns into as many parts as the parameter parts says; with 0, into as many as the
// threads can use.
func (p *rowPhase) divide(threads, parts int) {
	if parts == 0 {
		parts = commonDivisor(threads, p.most)
	}
	cpu.Keep(&p.parts, &parts)
}

func (q *queue) joinPhases(phases []cpu.Phase, parts int) cpu.Phase {
	work, joined := 0, joinedPhase{n: len(phases), parts: parts}
	for i, t := range phases {
		joined.phases[i].task, joined.phases[i].items = t.Task, t.Items
		work += t.Work
	}
	task := next(&q.joined)
	cpu.Keep(task, &joined)
	return cpu.Phase{Task: task, Items: parts, Work: work}
}

// together returns how many phases, from phase i on, can be joined, and into how many parts they are
// divided.
func (q *queue) together(i, threads int) (n, parts int) {
	if _, ok := q.phases[i].Task.(*productPhase); !ok {
		return 1, 0
	}
	most := 0
	for n = 0; i+n < len(q.phases) && n < mostJoined; n++ {
		if _, ok := q.phases[i+n].Task.(*productPhase); ok && n > 0 {
			break // a product needs all columns of its input
		}
		next := commonDivisor(most, columnParts(q.phases[i+n].Task))
		if commonDivisor(next, joinedPartsPerThread*threads)%threads != 0 {
			break
		}
		most = next
	}
	if n < 2 {
		return 1, 0
	}
	return n, commonDivisor(most, joinedPartsPerThread*threads)
}

// columnParts returns the largest number of equal parts into which a phase can be divided so that each
// part needs only the same part of its inputs. Divisors of this number work, too. A phase of products
// is divided by the columns of its outputs.
func columnParts(t cpu.Task) int {
	switch t := t.(type) {
	case *productPhase:
		return t.columnParts()
	case *rowPhase:
		return t.most
	case *cpu.Attention:
		return t.KeyHeads()
	}
	return 1
}

// columnParts returns into how many parts the columns of all products can be divided. It is 1 if a
// product reads its input unquantised, so that nothing is joined: a thread in a later phase could
// overwrite the input while another thread still reads it. Quantised inputs are copies.
func (p *productPhase) columnParts() int {
	parts := 0
	for i := range p.products[:p.n] {
		t := &p.products[i].quantised
		if t.W == nil {
			return 1
		}
		parts = commonDivisor(parts, t.ColumnParts())
	}
	return parts
}
