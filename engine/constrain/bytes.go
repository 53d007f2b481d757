package constrain

import "math/bits"

// byteSet is a set of bytes, one bit each.
type byteSet [4]uint64

func (s *byteSet) add(b byte)     { s[b>>6] |= 1 << (b & 63) }
func (s byteSet) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

func (s *byteSet) addRange(lo, hi byte) {
	for b := int(lo); b <= int(hi); b++ {
		s.add(byte(b))
	}
}

func (s byteSet) union(t byteSet) byteSet {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

func (s byteSet) meets(t byteSet) bool {
	return s[0]&t[0]|s[1]&t[1]|s[2]&t[2]|s[3]&t[3] != 0
}

func (s byteSet) and(t byteSet) byteSet {
	for i := range s {
		s[i] &= t[i]
	}
	return s
}

func (s byteSet) without(t byteSet) byteSet {
	for i := range s {
		s[i] &^= t[i]
	}
	return s
}

func (s byteSet) size() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// list returns the bytes of s in ascending order.
func (s byteSet) list() []byte {
	var out []byte
	for b := range 256 {
		if s.has(byte(b)) {
			out = append(out, byte(b))
		}
	}
	return out
}

func everyByte() byteSet { return byteSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)} }

// partition divides the bytes into classes. Two bytes are in the same class iff every set contains
// either both of them or neither. first has one byte of each class.
func partition(sets []byteSet) (class [256]uint8, first []byte) {
	known := map[string]uint8{}
	for b := range 256 {
		signature := make([]byte, (len(sets)+7)/8)
		for i, s := range sets {
			if s.has(byte(b)) {
				signature[i/8] |= 1 << (i % 8)
			}
		}
		id, ok := known[string(signature)]
		if !ok {
			id = uint8(len(known))
			known[string(signature)] = id
			first = append(first, byte(b))
		}
		class[b] = id
	}
	return class, first
}
