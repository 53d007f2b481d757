package constrain

import (
	"bytes"
	"slices"
)

// Vocabulary is what tokens can spell, as a tree of bytes. It does not change and may be shared.
//
// The tree is stored in the order of a walk that visits a node before its children: the descendants of node i are the nodes
// up to end[i], so a branch that leads nowhere is left out by going on there.
type Vocabulary struct {
	Stops []int32 // the tokens that end a reply
	Lead  bool    // the space that a reply begins with is not shown

	text    [][]byte // by id; nil for tokens without text
	longest int      // bytes of the longest of them, at least 1
	depth   []uint16 // by node, from 0
	last    []byte   // by node: the byte that leads to it
	end     []int32  // by node
	from    []int32  // by node: its tokens are order[from[i]:from[i]+own[i]]
	own     []int32
	order   []int32 // ids in the order of their texts
	roots   [256]int32
}

// maxTokenBytes bounds the text of a token; longer ones are never written under a constraint.
const maxTokenBytes = 1 << 10

// NewVocabulary takes size tokens. text returns the bytes that a token stands for, nothing for one that is never text; stops are
// the tokens that end a reply. lead says that the space which a reply begins with is not shown.
func NewVocabulary(size int, text func(id int32) []byte, stops []int32, lead bool) *Vocabulary {
	v := &Vocabulary{Stops: stops, Lead: lead, text: make([][]byte, size), longest: 1}
	for id := range int32(size) {
		if raw := text(id); len(raw) > 0 && len(raw) <= maxTokenBytes && !slices.Contains(stops, id) {
			v.text[id] = raw
			v.longest = max(v.longest, len(raw))
			v.order = append(v.order, id)
		}
	}
	slices.SortStableFunc(v.order, func(a, b int32) int { return bytes.Compare(v.text[a], v.text[b]) })
	v.grow()
	return v
}

// grow builds the tree from the sorted texts.
func (v *Vocabulary) grow() {
	for i := range v.roots {
		v.roots[i] = unknown
	}
	var path []int32 // the nodes that spell the text before
	var before []byte
	for at, id := range v.order {
		text := v.text[id]
		shared := 0
		for shared < min(len(before), len(text)) && before[shared] == text[shared] {
			shared++
		}
		v.leave(path[shared:])
		path = path[:shared]
		for depth := shared; depth < len(text); depth++ {
			node := int32(len(v.last))
			if depth == 0 {
				v.roots[text[0]] = node
			}
			path = append(path, node)
			v.last = append(v.last, text[depth])
			v.depth = append(v.depth, uint16(depth))
			v.from = append(v.from, int32(at))
			v.end = append(v.end, 0)
			v.own = append(v.own, 0)
		}
		v.own[path[len(text)-1]]++ // sorted, so these are the first below the node
		before = text
	}
	v.leave(path)
}

// Size is the number of tokens.
func (v *Vocabulary) Size() int { return len(v.text) }

// Spelled returns a token that is one byte and nothing else, −1 if there is none.
func (v *Vocabulary) Spelled(b byte) int32 {
	if node := v.roots[b]; node != unknown && v.own[node] > 0 {
		return v.tokens(node)[0]
	}
	return -1
}

// tokens are the ids whose text is the way to node.
func (v *Vocabulary) tokens(node int32) []int32 {
	return v.order[v.from[node] : v.from[node]+v.own[node]]
}

// spellable are the bytes that are tokens of their own. With these a text can be finished whatever it is.
func (v *Vocabulary) spellable() byteSet {
	var set byteSet
	for b := range 256 {
		if v.Spelled(byte(b)) >= 0 {
			set.add(byte(b))
		}
	}
	return set
}

// child returns the node behind byte b of a node, or unknown; the parent unknown is the root.
func (v *Vocabulary) child(parent int32, b byte) int32 {
	if parent == unknown {
		return v.roots[b]
	}
	for node := parent + 1; node < v.end[parent]; node = v.end[node] {
		if v.last[node] == b {
			return node
		}
	}
	return unknown
}

func (v *Vocabulary) leave(path []int32) {
	for _, node := range path {
		v.end[node] = int32(len(v.last))
	}
}
