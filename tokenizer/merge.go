package tokenizer

// maxMergeBytes bounds the buffers of one merge, about 40 bytes per byte of text. A longer word,
// which natural text does not have, is cut, and no token spans the cut.
const maxMergeBytes = 1 << 20

// symbol is a part of the text that has become one token, or one character or byte without a token. Symbols
// form a linked list. The index of a symbol is the offset of its first byte, so that an array as
// long as the text holds them all.
type symbol struct {
	prev, next int32 // indices; -1 before the first, len(text) after the last
	size       int32 // in bytes; 0 after it was joined to the symbol before it
	id         int32 // -1: no token
}

// candidate is a pair of neighbours that a rule can join.
type candidate struct {
	rank int32 // the lowest is joined first; of equal ones the leftmost
	left int32 // index of the left symbol
	size int32 // bytes of both symbols when queued; if they have another size now, the candidate is outdated
	id   int32 // of the token they become
}

// rules says which token two neighbours become, and with which rank. raw is the text of both.
type rules interface {
	join(raw string, left, right int32) (rank, id int32, ok bool)
}

// merger joins symbols greedily with a priority queue, in O(n log n) for n bytes. It keeps its
// buffers from word to word.
type merger struct {
	symbols []symbol
	queue   []candidate // binary heap
}

// begin makes room for a text of n bytes. The caller then sets the first symbols.
func (m *merger) begin(n int) {
	if cap(m.symbols) < n {
		m.symbols = make([]symbol, n)
	}
	m.symbols = m.symbols[:n]
}

// set puts a first symbol at offset at. Set symbols in order and without gaps.
func (m *merger) set(at, prev, size, id int32) {
	m.symbols[at] = symbol{prev: prev, next: at + size, size: size, id: id}
}

// merge applies the rules until none applies. The result is the list of symbols from index 0 along
// next.
func (m *merger) merge(text string, r rules) {
	end := int32(len(text))
	for at := int32(0); at < end; at = m.symbols[at].next {
		m.propose(text, at, r)
	}
	for len(m.queue) > 0 {
		c := m.pop()
		left := &m.symbols[c.left]
		if left.size == 0 || left.next >= end {
			continue
		}
		right := &m.symbols[left.next]
		if left.size+right.size != c.size {
			continue // outdated: one of the two has grown
		}
		left.size, left.id, left.next = c.size, c.id, right.next
		right.size = 0
		if left.next < end {
			m.symbols[left.next].prev = c.left
		}
		if left.prev >= 0 {
			m.propose(text, left.prev, r)
		}
		m.propose(text, c.left, r)
	}
}

// propose queues the pair that begins at symbol left, if a rule joins it.
func (m *merger) propose(text string, left int32, r rules) {
	a := m.symbols[left]
	if int(a.next) >= len(text) {
		return
	}
	b := m.symbols[a.next]
	size := a.size + b.size
	if rank, id, ok := r.join(text[left:left+size], a.id, b.id); ok {
		m.push(candidate{rank: rank, left: left, size: size, id: id})
	}
}

func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || (c.rank == d.rank && c.left < d.left)
}

func (m *merger) push(c candidate) {
	m.queue = append(m.queue, c)
	for i := len(m.queue) - 1; i > 0; {
		parent := (i - 1) / 2
		if !m.queue[i].before(m.queue[parent]) {
			return
		}
		m.queue[i], m.queue[parent] = m.queue[parent], m.queue[i]
		i = parent
	}
}

func (m *merger) pop() candidate {
	top, last := m.queue[0], len(m.queue)-1
	m.queue[0] = m.queue[last]
	m.queue = m.queue[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if m.queue[child].before(m.queue[least]) {
				least = child
			}
		}
		if least == i {
			return top
		}
		m.queue[i], m.queue[least] = m.queue[least], m.queue[i]
		i = least
	}
}
