package tokenizer

// matcher finds special tokens in a text. It is a trie over the bytes of their texts.
type matcher struct {
	nodes []matcherNode // nodes[0] is the root
	first [256]bool     // the bytes that a special token can begin with
}

type matcherNode struct {
	next     map[byte]int32 // byte → index in nodes
	id       int32          // of the token that ends here; -1: none
	ordinary bool           // the token may also come from text that a user wrote
}

// newMatcher collects the control, user-defined and unknown tokens. Of equal texts it uses the
// first.
func newMatcher(v *vocabulary) *matcher {
	m := &matcher{nodes: []matcherNode{{id: -1}}}
	for i, text := range v.tokens {
		switch kind := v.types[i]; {
		case text == "":
		case kind == TypeControl, kind == TypeUserDefined, kind == TypeUnknown:
			m.add(text, int32(i), v.isOrdinary(int32(i)))
		}
	}
	return m
}

func (m *matcher) add(text string, id int32, ordinary bool) {
	m.first[text[0]] = true
	at := int32(0)
	for i := range len(text) {
		next, ok := m.nodes[at].next[text[i]]
		if !ok {
			next = int32(len(m.nodes))
			m.nodes = append(m.nodes, matcherNode{id: -1})
			if m.nodes[at].next == nil {
				m.nodes[at].next = make(map[byte]int32)
			}
			m.nodes[at].next[text[i]] = next
		}
		at = next
	}
	if m.nodes[at].id < 0 {
		m.nodes[at].id, m.nodes[at].ordinary = id, ordinary
	}
}

// longest returns the id of the longest special token that text begins with, and its length in bytes.
// The length is 0 if there is none. text must not be empty. A token that is not ordinary must end
// within the first limit bytes, which the template wrote.
func (m *matcher) longest(text string, limit int) (id int32, size int) {
	if !m.first[text[0]] {
		return -1, 0
	}
	at := int32(0)
	for i := range len(text) {
		next, ok := m.nodes[at].next[text[i]]
		if !ok {
			break
		}
		at = next
		if node := m.nodes[at]; node.id >= 0 && (node.ordinary || i < limit) {
			id, size = node.id, i+1
		}
	}
	return id, size
}
