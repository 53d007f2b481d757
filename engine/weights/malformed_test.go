package weights

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
	"specula/kernels/format"
)

// malformed is a file that is unacceptable because of one broken rule, and what the error must say
// about it.
type malformed struct {
	name    string
	file    []byte
	field   string // part of MalformedError.Field
	offset  int64
	got     string // part
	allowed string // part
}

// patches overwrite one field of the base file. The error must point at that field, unless at says
// otherwise.
var patches = []struct {
	name    string
	mark    string
	value   any
	at      string // landmark that the error points at; mark if not set
	plus    int64  // bytes after that landmark
	field   string
	got     string
	allowed string
}{
	{name: "magic of another format", mark: "magic", value: "GGML", field: "magic", got: `"GGML"`, allowed: `"GGUF"`},
	{name: "version 0", mark: "version", value: uint32(0), field: "version", got: "0", allowed: "2 and 3"},
	{name: "version 1", mark: "version", value: uint32(1), field: "version", got: "1", allowed: "2 and 3"},
	{name: "version 4", mark: "version", value: uint32(4), field: "version", got: "4", allowed: "2 and 3"},
	{name: "big-endian", mark: "version", value: uint32(3 << 24), field: "version", got: "3, in big-endian", allowed: "little-endian"},

	{name: "tensor count 2⁶⁴-1", mark: "tensor count", value: uint64(math.MaxUint64), field: "tensor count", got: "18446744073709551615", allowed: "at most"},
	{name: "tensor count beyond the bytes left", mark: "tensor count", value: uint64(1000), field: "tensor count", got: "1000", allowed: "of 33 bytes or more each"},
	{name: "tensor count whose product with a struct size wraps", mark: "tensor count", value: uint64(1 << 61), field: "tensor count", got: "2305843009213693952", allowed: "at most"},
	{name: "metadata count 2⁶⁴-1", mark: "metadata count", value: uint64(math.MaxUint64), field: "metadata count", got: "18446744073709551615", allowed: "at most"},
	{name: "metadata count beyond the bytes left", mark: "metadata count", value: uint64(3000), field: "metadata count", got: "3000", allowed: "of 14 bytes or more each"},
	{name: "one metadata value too few", mark: "metadata count", value: uint64(15), at: "metadata[15] value type", plus: 12, field: `tensors[0] "vendor.small" type`, got: "type number"},
	{name: "one metadata value too many", mark: "metadata count", value: uint64(17), at: "tensors[0] dimension count", plus: 6, field: "tensors[0] name length", allowed: "1 to 256 bytes"},

	{name: "empty key", mark: "metadata[0] key length", value: uint64(0), field: "metadata[0] key length", got: "0", allowed: "1 to 65535 bytes"},
	{name: "key of 64 KiB", mark: "metadata[0] key length", value: uint64(65536), field: "metadata[0] key length", got: "65536", allowed: "1 to 65535 bytes"},
	{name: "key length 2⁶⁴-1, whose successor wraps", mark: "metadata[0] key length", value: uint64(math.MaxUint64), field: "metadata[0] key length", got: "18446744073709551615", allowed: "1 to 65535"},
	{name: "key past the end", mark: "metadata[0] key length", value: uint64(60000), field: "metadata[0] key length", got: "60000 bytes", allowed: "at most"},
	{name: "value type 13", mark: "metadata[2] value type", value: uint32(13), field: `metadata[2] "llama.context_length" value type`, got: "13", allowed: "0 to 12"},
	{name: "value type 2³²-1", mark: "metadata[2] value type", value: uint32(math.MaxUint32), field: "value type", got: "4294967295", allowed: "0 to 12"},
	{name: "architecture that is no string", mark: "metadata[0] value type", value: uint32(gguf.Uint64), field: `"general.architecture" value type`, got: "u64", allowed: "string"},
	{name: "model name that is no string", mark: "metadata[3] value type", value: uint32(gguf.Uint32), field: `"general.name" value type`, got: "u32", allowed: "string"},
	{name: "chat template that is an array", mark: "metadata[10] value type", value: uint32(gguf.Array), field: `"tokenizer.chat_template" value type`, got: "array", allowed: "string"},
	{name: "string past the end", mark: "metadata[0] value", value: uint64(1 << 20), field: "string length", got: "1048576 bytes", allowed: "at most"},
	{name: "string of 2⁶³ bytes", mark: "metadata[0] value", value: uint64(1 << 63), field: "string length", got: "9223372036854775808 bytes", allowed: "at most"},
	{name: "string of 2⁶⁴-1 bytes", mark: "metadata[0] value", value: uint64(math.MaxUint64), field: "string length", got: "18446744073709551615 bytes", allowed: "at most"},
	{name: "string of 1 GiB", mark: "metadata[0] value", value: uint64(1 << 30), field: "string length", got: "1073741824 bytes", allowed: "at most"},
	{name: "bool 2", mark: "metadata[8] value", value: uint8(2), field: `"tokenizer.ggml.add_bos_token" value`, got: "2", allowed: "0 and 1"},
	{name: "bool 255", mark: "metadata[8] value", value: uint8(255), field: "value", got: "255", allowed: "0 and 1"},

	{name: "array of arrays", mark: "metadata[5] value", value: uint32(gguf.Array), field: `"tokenizer.ggml.tokens" element type`, got: "array", allowed: "scalars and strings"},
	{name: "array of type 99", mark: "metadata[5] value", value: uint32(99), field: "element type", got: "value type 99", allowed: "scalars and strings"},
	{name: "string array count beyond the bytes left", mark: "metadata[5] array count", value: uint64(1000), field: "array count", got: "1000", allowed: "of 8 bytes or more each"},
	{name: "string array count 2⁶⁴-1", mark: "metadata[5] array count", value: uint64(math.MaxUint64), field: "array count", got: "18446744073709551615", allowed: "at most"},
	{name: "number array count whose product wraps", mark: "metadata[6] array count", value: uint64(1 << 62), field: "array count", got: "4611686018427387904", allowed: "at most"},
	{name: "number array past the end", mark: "metadata[6] array count", value: uint64(2000), field: "array count", got: "2000", allowed: "of 4 bytes or more each"},
	{name: "bool array past the end", mark: "metadata[12] array count", value: uint64(100000), field: "array count", got: "100000", allowed: "of 1 bytes or more each"},
	{name: "string in an array past the end", mark: "metadata[5] element 1", value: uint64(5000), field: "string length of element 1", got: "5000 bytes", allowed: "at most"},
	{name: "string in an array of 2⁶⁴-1 bytes", mark: "metadata[5] element 2", value: uint64(math.MaxUint64), field: "string length of element 2", got: "18446744073709551615 bytes", allowed: "at most"},
	{name: "bool 7 in an array", mark: "metadata[12] element 1", value: uint8(7), field: "value of element 1", got: "7", allowed: "0 and 1"},

	{name: "alignment 0", mark: "metadata[1] value", value: uint32(0), field: `"general.alignment" value`, got: "0", allowed: "powers of two up to 1048576"},
	{name: "alignment 3", mark: "metadata[1] value", value: uint32(3), field: "value", got: "3", allowed: "powers of two"},
	{name: "alignment 48", mark: "metadata[1] value", value: uint32(48), field: "value", got: "48", allowed: "powers of two"},
	{name: "alignment 2²¹", mark: "metadata[1] value", value: uint32(1 << 21), field: "value", got: "2097152", allowed: "powers of two up to 1048576"},
	{name: "alignment 2³⁰", mark: "metadata[1] value", value: uint32(1 << 30), field: "value", got: "1073741824", allowed: "powers of two"},
	{name: "alignment 2³²-1", mark: "metadata[1] value", value: uint32(math.MaxUint32), field: "value", got: "4294967295", allowed: "powers of two"},
	{name: "alignment that is a float", mark: "metadata[1] value type", value: uint32(gguf.Float32), at: "metadata[1] value", field: "value", got: "f32", allowed: "an unsigned integer"},
	{name: "alignment 64 for tensors at multiples of 32", mark: "metadata[1] value", value: uint32(64), at: "tensors[1] offset", field: "offset", got: "160", allowed: "multiples of the alignment, 64"},

	{name: "empty tensor name", mark: "tensors[0] name length", value: uint64(0), field: "tensors[0] name length", got: "0", allowed: "1 to 256 bytes"},
	{name: "tensor name of 257 bytes", mark: "tensors[0] name length", value: uint64(257), field: "name length", got: "257", allowed: "1 to 256 bytes"},
	{name: "tensor name of 2⁶⁴-1 bytes", mark: "tensors[0] name length", value: uint64(math.MaxUint64), field: "name length", got: "18446744073709551615", allowed: "1 to 256 bytes"},
	{name: "no dimensions", mark: "tensors[0] dimension count", value: uint32(0), field: `tensors[0] "token_embd.weight" dimension count`, got: "0", allowed: "1 to 4"},
	{name: "5 dimensions", mark: "tensors[0] dimension count", value: uint32(5), field: "dimension count", got: "5", allowed: "1 to 4"},
	{name: "2³²-1 dimensions", mark: "tensors[0] dimension count", value: uint32(math.MaxUint32), field: "dimension count", got: "4294967295", allowed: "1 to 4"},
	{name: "dimension 0 first", mark: "tensors[0] dims[0]", value: uint64(0), field: "dims[0]", got: "0", allowed: "1 to 2⁶³-1"},
	{name: "dimension 0 last", mark: "tensors[2] dims[2]", value: uint64(0), field: `"cube" dims[2]`, got: "0", allowed: "1 to 2⁶³-1"},
	{name: "dimension 2⁶³, negative as int64", mark: "tensors[1] dims[0]", value: uint64(1 << 63), field: "dims[0]", got: "9223372036854775808", allowed: "1 to 2⁶³-1"},
	{name: "dimension 2⁶⁴-1", mark: "tensors[1] dims[0]", value: uint64(math.MaxUint64), field: "dims[0]", got: "18446744073709551615", allowed: "1 to 2⁶³-1"},
	{name: "product of dimensions wraps to 0", mark: "tensors[0] dims[1]", value: uint64(1 << 59), field: "dims[1]", got: "32 × 576460752303423488", allowed: "products up to 2⁶³-1"},
	{name: "product of dimensions wraps to a small number", mark: "tensors[0] dims[1]", value: uint64(1<<59 + 1), field: "dims[1]", got: "32 × 576460752303423489", allowed: "products up to 2⁶³-1"},
	{name: "product of dimensions beyond int64", mark: "tensors[0] dims[1]", value: uint64(1 << 58), field: "dims[1]", got: "32 × 288230376151711744", allowed: "products up to 2⁶³-1"},
	{name: "bytes of elements wrap to 0", mark: "tensors[1] dims[0]", value: uint64(1 << 62), field: "size", got: "4611686018427387904 elements of F32", allowed: "the size of the file"},
	{name: "bytes of elements reach 2⁶⁴-4, whose padding wraps", mark: "tensors[1] dims[0]", value: uint64(1<<62 - 1), field: "size", got: "4611686018427387903 elements of F32", allowed: "the size of the file"},
	{name: "bytes of a block type wrap", mark: "tensors[0] dims[1]", value: uint64(1<<58 - 1), field: "size", at: "tensors[0] dims[0]", got: "elements of Q8_0", allowed: "the size of the file"},
	{name: "tensor larger than the file", mark: "tensors[1] dims[0]", value: uint64(5000), field: "size", got: "5000 elements of F32", allowed: "the size of the file"},
	{name: "row that is no multiple of the block", mark: "tensors[0] dims[0]", value: uint64(33), field: "dims[0]", got: "33", allowed: "multiples of 32, the block of Q8_0"},
	{name: "row shorter than the block", mark: "tensors[0] dims[0]", value: uint64(1), field: "dims[0]", got: "1", allowed: "multiples of 32"},

	{name: "tensor type withdrawn, Q4_2", mark: "tensors[0] type", value: uint32(4), field: "type", got: "type number 4", allowed: "defines today"},
	{name: "tensor type withdrawn, Q4_0_4_4", mark: "tensors[0] type", value: uint32(31), field: "type", got: "type number 31", allowed: "defines today"},
	{name: "tensor type 99", mark: "tensors[0] type", value: uint32(99), field: `tensors[0] "token_embd.weight" type`, got: "type number 99", allowed: fmt.Sprintf("(0 to %d with gaps)", format.Highest())},
	{name: "tensor type 2³²-1", mark: "tensors[0] type", value: uint32(math.MaxUint32), field: "type", got: "type number 4294967295", allowed: "defines today"},
	{name: "tensor type with a larger block", mark: "tensors[0] type", value: uint32(compute.Q4_K), at: "tensors[0] dims[0]", field: "dims[0]", got: "32", allowed: "multiples of 256, the block of Q4_K"},
	{name: "tensor type that makes it overlap the next", mark: "tensors[0] type", value: uint32(compute.F32), at: "tensors[1] offset", field: "tensors[1]", got: "160", allowed: "512 or more"},

	{name: "offset off the alignment", mark: "tensors[1] offset", value: uint64(161), field: `tensors[1] "norm.weight" offset`, got: "161", allowed: "multiples of the alignment, 32"},
	{name: "offset into the tensor before", mark: "tensors[1] offset", value: uint64(128), field: "offset", got: "128", allowed: "136 or more"},
	{name: "offsets that descend", mark: "tensors[2] offset", value: uint64(0), field: "offset", got: "0", allowed: "180 or more"},
	{name: "offset after the file", mark: "tensors[3] offset", value: uint64(1 << 40), field: "offset", got: "1099511627776 for 12 bytes", allowed: "inside the file"},
	{name: "offset plus size wraps", mark: "tensors[2] offset", value: uint64(math.MaxUint64 - 31), field: "offset", got: "18446744073709551584 for 48 bytes", allowed: "inside the file"},
	{name: "offset plus size nearly wraps", mark: "tensors[3] offset", value: uint64(math.MaxUint64 - 31), field: "offset", got: "18446744073709551584 for 12 bytes", allowed: "inside the file"},
	{name: "offset plus size beyond int64", mark: "tensors[3] offset", value: uint64(1<<63 - 32), field: "offset", got: "9223372036854775776 for 12 bytes", allowed: "inside the file"},
}

// corpus is every malformed file: the patches, and files built to be malformed.
func corpus(t testing.TB) []malformed {
	base := baseBuilder().Bytes()
	marks := landmarks(base)
	var all []malformed
	for _, p := range patches {
		at := p.at
		if at == "" {
			at = p.mark
		}
		all = append(all, malformed{p.name, patched(t, base, p.mark, p.value), p.field, marks[at] + p.plus, p.got, p.allowed})
	}
	duplicateKey := baseBuilder().Set("vendor.double", "again").Bytes()
	duplicateTensor := baseBuilder().Vector("cube", []float32{1}).Bytes()
	dataAt := marks["end of header"] + (32-marks["end of header"]%32)%32
	lastBytes := dataAt + 256 + 12 // "brain" begins at 256 and has 12 bytes
	wide := baseBuilder().Tensor("five", compute.F32, make([]byte, 4), 1, 1, 1, 1, 1).Bytes()
	wrapping := (&gguf.Builder{}).Tensor("wrap", compute.F32, nil, 1<<32, 1<<32, 1, 1).Bytes()
	deep := []byte{}
	for range 100000 { // an array in an array in an array …
		deep = binary.LittleEndian.AppendUint32(deep, uint32(gguf.Array))
		deep = binary.LittleEndian.AppendUint64(deep, 1)
	}
	nested := (&gguf.Builder{}).SetRaw("deep", gguf.Array, deep).Bytes()
	many := &gguf.Builder{}
	for i := range maxKeys + 1 {
		many.Set(fmt.Sprint("k", i), true)
	}
	crowd := &gguf.Builder{}
	for i := range maxTensors + 1 {
		crowd.Vector(fmt.Sprint("t", i), []float32{1})
	}
	long := (&gguf.Builder{}).Set("flags", make([]bool, maxElements+1)).Bytes()
	hostile := (&gguf.Builder{}).SetRaw("\x1b]52;c;AAAA\a\u202e"+strings.Repeat("k", 100), 99, nil).Bytes()
	return append(all,
		malformed{"empty file", nil, "magic", 0, "4 bytes", "at most 0 bytes"},
		malformed{"duplicate key", duplicateKey, "metadata[16] key", landmarks(duplicateKey)["metadata[16] value"] + 8, `"vendor.double", already at metadata[14]`, "each once"},
		malformed{"duplicate tensor", duplicateTensor, "tensors[4] name", landmarks(duplicateTensor)["tensors[4] name length"], `"cube", already at tensors[2]`, "each once"},
		malformed{"data cut by one byte", base[:lastBytes-1], `tensors[3] "brain" data`, dataAt + 256, fmt.Sprintf("12 bytes, which end at byte %d", lastBytes), fmt.Sprintf("byte %d", lastBytes-1)},
		malformed{"no data at all", base[:marks["end of header"]], `tensors[3] "brain" data`, dataAt + 256, "12 bytes", "the end of the file"},
		malformed{"five dimensions written out", wide, "dimension count", landmarks(wide)["tensors[4] dimension count"], "5", "1 to 4"},
		malformed{"two dimensions of 2³²", wrapping, "dims[1]", landmarks(wrapping)["tensors[0] dims[1]"], "4294967296 × 4294967296", "products up to 2⁶³-1"},
		malformed{"100,000 nested arrays", nested, "element type", 24 + 8 + 4 + 4, "array", "scalars and strings"},
		malformed{"too many keys", many.Bytes(), "metadata count", 16, "4097", "at most 4096"},
		malformed{"too many tensors", crowd.Bytes(), "tensor count", 8, "8193", "at most 8192"},
		malformed{"array of more than 4 Mi elements", long, "array count", 24 + 8 + 5 + 4 + 4, "4194305", "at most 4194304"},
		malformed{"escape sequences in a key", hostile, `metadata[0] "\x1b]52;c;AAAA\a\u202e`, 24 + 8 + 115, "99", "0 to 12"},
	)
}

// Each error names file, field, offset, what was found and what is allowed. Parsing takes little
// memory.
func TestMalformedFilesAreRefused(t *testing.T) {
	cases := corpus(t)
	if len(cases) < 60 {
		t.Errorf("the corpus shrank to %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := totalAlloc()
			_, err := Parse("some file.gguf", c.file)
			if taken := totalAlloc() - before; taken > 2*uint64(len(c.file))+1<<20 {
				t.Errorf("took %d bytes of memory for a file of %d", taken, len(c.file))
			}
			var m *MalformedError
			if !errors.As(err, &m) || !errors.Is(err, ErrMalformed) {
				t.Fatalf("got %v, want a MalformedError", err)
			}
			if m.File != "some file.gguf" || !strings.Contains(m.Field, c.field) || m.Offset != c.offset ||
				!strings.Contains(m.Got, c.got) || !strings.Contains(m.Allowed, c.allowed) {
				t.Errorf("got  %+v\nwant %q at %d, got %q, allowed %q", *m, c.field, c.offset, c.got, c.allowed)
			}
			checkMessage(t, err)
		})
	}
}

// checkMessage: an error is short, and has no character that moves the terminal's cursor or turns the
// direction of text.
func checkMessage(t testing.TB, err error) {
	t.Helper()
	text := err.Error()
	if len(text) > 2000 {
		t.Errorf("error of %d bytes: %.200s…", len(text), text)
	}
	for _, r := range text {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' {
			t.Errorf("error holds %U: %q", r, text)
		}
	}
}

func totalAlloc() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// The base is cut at every byte; only without the padding after its last tensor is it whole.
func TestFilesCutAnywhereAreRefused(t *testing.T) {
	base := baseBuilder().Bytes()
	end := landmarks(base)["end of header"]
	end = int64(alignUp(uint64(end), 32)) + 256 + 12
	for n := int64(0); n < end; n++ {
		_, err := Parse("cut", base[:n])
		var m *MalformedError
		if !errors.As(err, &m) {
			t.Fatalf("cut at %d: got %v, want a MalformedError", n, err)
		}
	}
	if _, err := Parse("whole", base[:end]); err != nil {
		t.Errorf("nothing but padding cut: %v", err)
	}
}

// holey is a file that starts with head, is very long, and has the same byte everywhere after head.
type holey struct {
	head []byte
	fill byte
}

func (h holey) ReadAt(p []byte, at int64) (int, error) {
	for i := range p {
		p[i] = h.fill
	}
	if at < int64(len(h.head)) {
		copy(p, h.head[at:])
	}
	return len(p), nil
}

// Headers with false sizes are refused, in a sparse file of 16 TiB that has room for them.
func TestFalseSizesAreRefused(t *testing.T) {
	preamble := func(tensors, keys uint64) []byte {
		b := append([]byte(gguf.Magic), 3, 0, 0, 0)
		b = binary.LittleEndian.AppendUint64(b, tensors)
		return binary.LittleEndian.AppendUint64(b, keys)
	}
	key := func(t gguf.ValueType, rest ...uint64) []byte {
		b := gguf.AppendString(preamble(0, 1), "k")
		b = binary.LittleEndian.AppendUint32(b, uint32(t))
		for _, r := range rest {
			b = binary.LittleEndian.AppendUint64(b, r)
		}
		return b
	}
	array := func(elem gguf.ValueType, n uint64) []byte {
		b := binary.LittleEndian.AppendUint32(key(gguf.Array), uint32(elem))
		return binary.LittleEndian.AppendUint64(b, n)
	}
	for _, c := range []struct {
		name  string
		src   io.ReaderAt
		field string
	}{
		{"most tensors and keys, then nothing", holey{preamble(maxTensors, maxKeys), 0}, "key length"},
		{"most tensors, then nothing", holey{preamble(maxTensors, 0), 0}, "name length"},
		{"2⁴⁰ tensors", holey{preamble(1<<40, 0), 0}, "tensor count"},
		{"2⁴⁰ keys", holey{preamble(0, 1<<40), 0}, "metadata count"},
		{"string of 1 TiB", holey{key(gguf.String, 1<<40), 0}, "string length"},
		{"string over the header's limit", holey{key(gguf.String, maxHeaderBytes), 0}, "string length"},
		{"2⁴⁰ strings", holey{array(gguf.String, 1<<40), 0}, "array count"},
		{"4 Mi strings of 2⁶³ bytes", holey{array(gguf.String, maxElements), 0x7f}, "string length of element 0"},
		{"2⁴⁰ doubles", holey{array(gguf.Float64, 1<<40), 0}, "array count"},
		{"key of 64 KiB of noise", holey{preamble(0, 2), 0xff}, "key length"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := totalAlloc()
			_, err := parseHeader(context.Background(), "sparse", c.src, 1<<44)
			if taken := totalAlloc() - before; taken > 1<<20 {
				t.Errorf("took %d bytes of memory", taken)
			}
			var m *MalformedError
			if !errors.As(err, &m) || !strings.Contains(m.Field, c.field) {
				t.Fatalf("got %v, want an error about %s", err, c.field)
			}
			checkMessage(t, err)
		})
	}
}

// TestAcceptedCostsLittle: a valid file with the largest number of keys and tensors, all with the
// shortest names, also needs at most twice the header and 1 MiB.
func TestAcceptedCostsLittle(t *testing.T) {
	b := &gguf.Builder{}
	for i := range maxKeys {
		b.Set(fmt.Sprintf("%x", i), true)
	}
	for i := range maxTensors {
		b.Tensor(fmt.Sprintf("%x", i), compute.F32, []byte{0, 0, 0, 0}, 1)
	}
	file := b.Bytes()
	header := uint64(landmarks(file)["end of header"])
	before := totalAlloc()
	_, err := Parse("full", file)
	if err != nil {
		t.Fatal(err)
	}
	if taken := totalAlloc() - before; taken > 2*header+1<<20 {
		t.Errorf("took %d bytes for a header of %d", taken, header)
	}
}
