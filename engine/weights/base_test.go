package weights

import (
	"encoding/binary"
	"fmt"
	"testing"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

// baseBuilder makes the valid file from which the malformed ones are made. It has every kind of
// value, and what a reader that is too strict would refuse: a NUL inside a token, two equal tokens,
// an unknown key, an empty string, an empty array.
func baseBuilder() *gguf.Builder {
	ramp := make([]float32, 32*4)
	for i := range ramp {
		ramp[i] = float32(i-64) / 8
	}
	b := &gguf.Builder{}
	b.Set("general.architecture", "llama")                                      // 0
	b.Set("general.alignment", uint32(32))                                      // 1
	b.Set("llama.context_length", uint32(512))                                  // 2
	b.Set("general.name", "a base")                                             // 3
	b.Set("tokenizer.ggml.model", "llama")                                      // 4
	b.Set("tokenizer.ggml.tokens", []string{"a\x00b", "x", "x"})                // 5
	b.Set("tokenizer.ggml.scores", []float32{-1, -2, -3})                       // 6
	b.Set("tokenizer.ggml.token_type", []int32{1, 1, 6})                        // 7
	b.Set("tokenizer.ggml.add_bos_token", true)                                 // 8
	b.Set("tokenizer.ggml.bos_token_id", uint32(1))                             // 9
	b.Set("tokenizer.chat_template", "{{ messages }}")                          // 10
	b.Set("vendor.unknown", "")                                                 // 11
	b.Set("vendor.flags", []bool{true, false})                                  // 12
	b.Set("vendor.none", []int64{})                                             // 13
	b.Set("vendor.double", 2.5)                                                 // 14
	b.Set("vendor.small", int8(-3))                                             // 15
	b.Matrix("token_embd.weight", compute.Q8_0, 4, 32, ramp)                    // 0
	b.Vector("norm.weight", ramp[:5])                                           // 1
	b.Tensor("cube", compute.F16, gguf.Encode(compute.F16, ramp[:24]), 2, 3, 4) // 2
	b.Matrix("brain", compute.BF16, 2, 3, ramp[:6])                             // 3
	return b
}

// landmarks finds the fields of a valid file by walking through it without any check, independently
// of the reader.
func landmarks(file []byte) map[string]int64 {
	marks := map[string]int64{"magic": 0, "version": 4, "tensor count": 8, "metadata count": 16}
	at := int64(24)
	u32 := func() int64 { at += 4; return int64(binary.LittleEndian.Uint32(file[at-4:])) }
	u64 := func() int64 { at += 8; return int64(binary.LittleEndian.Uint64(file[at-8:])) }
	mark := func(format string, args ...any) { marks[fmt.Sprintf(format, args...)] = at }
	scalar := func(t gguf.ValueType) {
		if t == gguf.String {
			at += u64()
			return
		}
		at += int64(t.Bytes())
	}
	for i := range binary.LittleEndian.Uint64(file[16:]) {
		mark("metadata[%d] key length", i)
		at += u64()
		mark("metadata[%d] value type", i)
		t := gguf.ValueType(u32())
		mark("metadata[%d] value", i)
		if t != gguf.Array {
			scalar(t)
			continue
		}
		elem := gguf.ValueType(u32())
		mark("metadata[%d] array count", i)
		n := u64()
		for j := range n {
			mark("metadata[%d] element %d", i, j)
			scalar(elem)
		}
	}
	for i := range binary.LittleEndian.Uint64(file[8:]) {
		mark("tensors[%d] name length", i)
		at += u64()
		mark("tensors[%d] dimension count", i)
		for j := range u32() {
			mark("tensors[%d] dims[%d]", i, j)
			at += 8
		}
		mark("tensors[%d] type", i)
		at += 4
		mark("tensors[%d] offset", i)
		at += 8
	}
	mark("end of header")
	return marks
}

// patched overwrites the file at a landmark with value, an integer of fixed size or bytes.
func patched(t testing.TB, file []byte, mark string, value any) []byte {
	t.Helper()
	at, ok := landmarks(file)[mark]
	if !ok {
		t.Fatalf("no landmark %q", mark)
	}
	out := append([]byte(nil), file...)
	switch v := value.(type) {
	case string:
		copy(out[at:], v)
	case uint8:
		out[at] = v
	case uint32:
		binary.LittleEndian.PutUint32(out[at:], v)
	case uint64:
		binary.LittleEndian.PutUint64(out[at:], v)
	default:
		t.Fatalf("cannot patch with %T", value)
	}
	return out
}
