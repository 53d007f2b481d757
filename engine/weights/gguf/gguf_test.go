package gguf_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

// samples returns numbers of both signs up to 167, without a pattern: (i·2654435761 mod 1000003 −
// 500001) / 3000.
func samples() []float32 {
	out := make([]float32, 256)
	for i := range out {
		out[i] = (float32(i*2654435761%1000003) - 500001) / 3000
	}
	return out
}

// TestCodecAgainstReference compares packed and unpacked bytes with those of the Python package
// gguf 0.19.0.
func TestCodecAgainstReference(t *testing.T) {
	for _, c := range []struct {
		typ              compute.DType
		packed, unpacked string
	}{
		{compute.F32, "0ca7ed3409a2c6e1a78b4756da402d383732a3c3e930efd64b5f09fed47eaafd", "0ca7ed3409a2c6e1a78b4756da402d383732a3c3e930efd64b5f09fed47eaafd"},
		{compute.F16, "d95b3e72d32694188692e407a1f30c72c75032634374b6bc3d475aa483c0f0dd", "08c166c346aa44fd7c99f558292643c250d69bb3d07b751e69302592dc22f56c"},
		{compute.BF16, "ce0d1ba1227f5ed10e85e864fb60605fef5e58dd44911e4a366dfe32e20673c1", "a74f2c2fedcb39b0c89231466ad4807e4d58961c4d577054aaceb4c2b31202c0"},
		{compute.Q8_0, "9fd4e9059a4edadd7d130abbf78caa9c2bc16cfa017a0075c8c9ea29c78c2766", "ac9885941eb0841291bac1ddb38c8c6ea9928e394c364b698c39413176b25f57"},
	} {
		t.Run(gguf.TypeName(c.typ), func(t *testing.T) {
			packed := gguf.Encode(c.typ, samples())
			if got := digest(packed); got != c.packed {
				t.Errorf("packed: got %s, want %s", got, c.packed)
			}
			values, err := gguf.Decode(c.typ, packed)
			if err != nil {
				t.Fatal(err)
			}
			if got := digest(gguf.Encode(compute.F32, values)); got != c.unpacked {
				t.Errorf("unpacked: got %s, want %s", got, c.unpacked)
			}
		})
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// TestHalfRoundTrip: every 16-bit number unpacks to a float32 that packs to the same bits. NaN
// stays NaN.
func TestHalfRoundTrip(t *testing.T) {
	for _, typ := range []compute.DType{compute.F16, compute.BF16} {
		for i := range 1 << 16 {
			packed := []byte{byte(i), byte(i >> 8)}
			v, err := gguf.Decode(typ, packed)
			if err != nil {
				t.Fatal(err)
			}
			again := gguf.Encode(typ, v)
			if math.IsNaN(float64(v[0])) {
				v, _ = gguf.Decode(typ, again)
				if !math.IsNaN(float64(v[0])) {
					t.Fatalf("%s %#04x: NaN became %v", gguf.TypeName(typ), i, v[0])
				}
			} else if !bytes.Equal(packed, again) {
				t.Fatalf("%s %#04x: got % x", gguf.TypeName(typ), i, again)
			}
		}
	}
}

// TestHalfRounding has the difficult cases of rounding, from the definition of binary16.
func TestHalfRounding(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		name     string
		in, want float32
	}{
		{"half way up to even", 1 + 3.0/2048, 1 + 2.0/1024},
		{"half way down to even", 1 + 1.0/2048, 1},
		{"above half way", 1 + 1.0/2048 + 1.0/65536, 1 + 1.0/1024},
		{"largest", 65504, 65504},
		{"below half way to infinity", 65519, 65504},
		{"half way to infinity", 65520, inf},
		{"smallest normal", 1.0 / (1 << 14), 1.0 / (1 << 14)},
		{"smallest subnormal", 1.0 / (1 << 24), 1.0 / (1 << 24)},
		{"half the smallest subnormal", 1.0 / (1 << 25), 0},
		{"three quarters of it", 1.5 / (1 << 25), 1.0 / (1 << 24)},
		{"subnormal that rounds to normal", (1 - 1.0/4096) / (1 << 14), 1.0 / (1 << 14)},
		{"negative infinity", -inf, -inf},
	} {
		got, err := gguf.Decode(compute.F16, gguf.Encode(compute.F16, []float32{c.in}))
		if err != nil || got[0] != c.want {
			t.Errorf("%s: %v became %v, want %v", c.name, c.in, got[0], c.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	if _, err := gguf.Decode(compute.Q4_K, make([]byte, 144)); err == nil {
		t.Error("Q4_K was unpacked")
	}
	if _, err := gguf.Decode(compute.DType(4), nil); err == nil {
		t.Error("an unknown type was unpacked")
	}
	if _, err := gguf.Decode(compute.Q8_0, make([]byte, 35)); err == nil {
		t.Error("35 bytes of Q8_0 were unpacked")
	}
}

func TestProgrammerErrorsPanic(t *testing.T) {
	for name, call := range map[string]func(){
		"value without a type": func() { new(gguf.Builder).Set("k", struct{}{}) },
		"wrong count":          func() { new(gguf.Builder).Matrix("m", compute.F32, 2, 2, []float32{1}) },
		"half a block":         func() { gguf.Encode(compute.Q8_0, make([]float32, 16)) },
		"type without a codec": func() { gguf.Encode(compute.Q4_K, make([]float32, 256)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("did not panic")
				}
			}()
			call()
		})
	}
}

// TestBuilderLayout compares a whole file with one written by hand.
func TestBuilderLayout(t *testing.T) {
	b := &gguf.Builder{Version: 2, Alignment: 8}
	b.Set("k", []string{"ab", ""}).Vector("v", []float32{1}).Tensor("w", compute.BF16, []byte{0x80, 0x3f}, 1)
	want := "GGUF\x02\x00\x00\x00" + "\x02\x00\x00\x00\x00\x00\x00\x00" + "\x02\x00\x00\x00\x00\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00k\x09\x00\x00\x00\x08\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00" +
		"\x02\x00\x00\x00\x00\x00\x00\x00ab" + "\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x11\x00\x00\x00\x00\x00\x00\x00general.alignment\x04\x00\x00\x00\x08\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00v\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00w\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x1e\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00"
	for len(want)%8 != 0 {
		want += "\x00"
	}
	want += "\x00\x00\x80\x3f\x00\x00\x00\x00" + "\x80\x3f\x00\x00\x00\x00\x00\x00"
	if got := string(b.Bytes()); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if first, second := b.Bytes(), b.Bytes(); !bytes.Equal(first, second) {
		t.Error("writing changed the builder")
	}
}

func TestTypeTable(t *testing.T) {
	for _, number := range []compute.DType{4, 5, 31, 32, 33, 36, 37, 38, 99, math.MaxUint32} {
		if _, ok := gguf.Type(number); ok {
			t.Errorf("type %d is known", number)
		}
	}
	if info, ok := gguf.Type(compute.Q6_K); !ok || info != (gguf.TensorType{Name: "Q6_K", BlockElements: 256, BlockBytes: 210}) {
		t.Errorf("got %+v, %v", info, ok)
	}
	if got := gguf.ValueType(13).String(); got != "value type 13" {
		t.Errorf("got %q", got)
	}
}
