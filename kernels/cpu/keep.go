package cpu

import "unsafe"

// Keep sets *dst to *src, but does not write if *dst has the same bytes already: a write would remove
// *dst from the caches of other cores.
func Keep[T any](dst, src *T) {
	if string(bytesOf(dst)) != string(bytesOf(src)) {
		*dst = *src
	}
}

func bytesOf[T any](x *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(x)), unsafe.Sizeof(*x)) }
