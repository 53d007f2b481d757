package tokenizer

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"sync"
	"testing"
)

// gguf reads the metadata of a GGUF file of this repository, which is known to be valid.
type gguf struct {
	data []byte
	at   int
}

func (g *gguf) u32() uint32 { g.at += 4; return binary.LittleEndian.Uint32(g.data[g.at-4:]) }
func (g *gguf) u64() uint64 { g.at += 8; return binary.LittleEndian.Uint64(g.data[g.at-8:]) }
func (g *gguf) str() string { n := int(g.u64()); g.at += n; return string(g.data[g.at-n : g.at]) }

func (g *gguf) value(kind uint32) any {
	switch kind {
	case 4, 5:
		return int32(g.u32())
	case 6:
		return math.Float32frombits(g.u32())
	case 7:
		g.at++
		return g.data[g.at-1] != 0
	case 8:
		return g.str()
	case 9:
		kind, n := g.u32(), int(g.u64())
		list := make([]any, n)
		for i := range list {
			list[i] = g.value(kind)
		}
		return list
	}
	panic(fmt.Sprintf("metadata type %d at offset %d", kind, g.at))
}

func list[T any](v any) []T {
	var out []T
	items, _ := v.([]any)
	for _, item := range items {
		out = append(out, item.(T))
	}
	return out
}

// pairSpec is the vocabulary of the embedded pair.
var pairSpec = sync.OnceValue(func() Spec {
	data, err := os.ReadFile("../assets/pair/target.gguf")
	if err != nil {
		panic(err)
	}
	g := &gguf{data: data, at: 16} // after magic, version and number of tensors
	meta := make(map[string]any)
	for range g.u64() {
		key := g.str()
		meta[key] = g.value(g.u32())
	}
	id := func(key string) int32 {
		if v, ok := meta["tokenizer.ggml."+key].(int32); ok {
			return v
		}
		return -1
	}
	addBOS, _ := meta["tokenizer.ggml.add_bos_token"].(bool)
	return Spec{
		Model:  meta["tokenizer.ggml.model"].(string),
		Pre:    meta["tokenizer.ggml.pre"].(string),
		Tokens: list[string](meta["tokenizer.ggml.tokens"]),
		Types:  list[int32](meta["tokenizer.ggml.token_type"]),
		Merges: list[string](meta["tokenizer.ggml.merges"]),
		BOS:    id("bos_token_id"), EOS: id("eos_token_id"), EOT: id("eot_token_id"),
		UNK: id("unknown_token_id"), PAD: id("padding_token_id"),
		AddBOS: addBOS,
	}
})

func mustNew(t testing.TB, spec Spec) *Tokenizer {
	t.Helper()
	tok, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}
