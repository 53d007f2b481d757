package constrain

import (
	"bytes"
	"slices"
)

// Vocabulary holds the texts of all tokens, as a tree of bytes. It is immutable and may be shared.
//
// The tree is stored in preorder: the descendants of node i are the nodes from i+1 up to end[i],
// without end[i]. So a walk skips a branch by continuing at end[i].
type Vocabulary struct {
	Stops []int32 // the tokens that end a reply
	Lead  bool    // a space at the beginning of a reply is not shown

	text    [][]byte   // the text of each token, by id; nil for tokens that are never written
	longest int        // length of the longest text, at least 1
	depth   []uint16   // for each node: the number of bytes before the node's own byte
	last    []byte     // for each node: the byte that leads to it
	end     []int32    // for each node: the first node after its descendants
	from    []int32    // for each node: its tokens are order[from[i]:from[i]+own[i]]
	own     []int32    // for each node: the number of its tokens
	order   []int32    // ids in the order of their texts
	roots   [256]int32 // the node of each first byte, or unknown
}

// maxTokenBytes limits the text of a token. A token with more bytes is never written under a
// constraint.
const maxTokenBytes = 1 << 10

// NewVocabulary returns the vocabulary of the tokens with ids below size. text returns the bytes of a
// token, and none for a token that is never text. stops are the tokens that end a reply. lead means
// that a space at the beginning of a reply is not shown.
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
	var path []int32 // the nodes that spell the previous text
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
		v.own[path[len(text)-1]]++ // the texts are sorted, so the tokens of one node lie together in order
		before = text
	}
	v.leave(path)
}

// Size returns the number of tokens.
func (v *Vocabulary) Size() int { return len(v.text) }

// Spelled returns a token whose text is the single byte b, or −1 if there is none.
func (v *Vocabulary) Spelled(b byte) int32 {
	if node := v.roots[b]; node != unknown && v.own[node] > 0 {
		return v.tokens(node)[0]
	}
	return -1
}

// tokens returns the ids whose text is the path to node.
func (v *Vocabulary) tokens(node int32) []int32 {
	return v.order[v.from[node] : v.from[node]+v.own[node]]
}

// spellable returns the bytes that are single tokens. A closing has only such bytes, so it can be spelled after
// any token.
func (v *Vocabulary) spellable() byteSet {
	var set byteSet
	for b := range 256 {
		if v.Spelled(byte(b)) >= 0 {
			set.add(byte(b))
		}
	}
	return set
}

// child returns the child of a node by byte b, or unknown if there is none. As parent, unknown means
// the root.
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

// leave sets the end of nodes whose descendants are complete.
func (v *Vocabulary) leave(path []int32) {
	for _, node := range path {
		v.end[node] = int32(len(v.last))
	}
}
