package weights

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"specula/engine/weights/gguf"
)

// Each getter reads values that fit, and refuses values whose type or range does not.
func TestGettersRefuseOtherTypesAndRanges(t *testing.T) {
	type get = func(f *File) (any, bool, error)
	wrap := func(v any, found bool, err error) (any, bool, error) { return v, found, err }
	var (
		asUint    get = func(f *File) (any, bool, error) { v, ok, err := f.Uint("k"); return wrap(v, ok, err) }
		asInt     get = func(f *File) (any, bool, error) { v, ok, err := f.Int("k"); return wrap(v, ok, err) }
		asFloat   get = func(f *File) (any, bool, error) { v, ok, err := f.Float("k"); return wrap(v, ok, err) }
		asBool    get = func(f *File) (any, bool, error) { v, ok, err := f.Bool("k"); return wrap(v, ok, err) }
		asString  get = func(f *File) (any, bool, error) { v, ok, err := f.String("k"); return wrap(v, ok, err) }
		asStrings get = func(f *File) (any, bool, error) { v, ok, err := f.Strings("k"); return wrap(v, ok, err) }
		asInts    get = func(f *File) (any, bool, error) { v, ok, err := f.Ints("k"); return wrap(v, ok, err) }
		asFloats  get = func(f *File) (any, bool, error) { v, ok, err := f.Floats("k"); return wrap(v, ok, err) }
	)
	for _, c := range []struct {
		name  string
		value any
		get   get
		want  any    // nil: an error is expected
		got   string // part of MalformedError.Got
	}{
		{"uint from u8", uint8(200), asUint, uint64(200), ""},
		{"uint from u64", uint64(math.MaxUint64), asUint, uint64(math.MaxUint64), ""},
		{"uint from i32", int32(7), asUint, uint64(7), ""},
		{"uint from -1", int32(-1), asUint, nil, "i32 -1"},
		{"uint from float", float32(1), asUint, nil, "f32"},
		{"uint from bool", true, asUint, nil, "bool"},
		{"uint from string", "12", asUint, nil, "a string of 2 bytes"},
		{"uint from array", []uint32{1, 2}, asUint, nil, "an array of 2 u32"},
		{"int from i8", int8(-128), asInt, int64(-128), ""},
		{"int from u32", uint32(math.MaxUint32), asInt, int64(math.MaxUint32), ""},
		{"int from i64", int64(math.MinInt64), asInt, int64(math.MinInt64), ""},
		{"int from u64 beyond int64", uint64(1 << 63), asInt, nil, "u64"},
		{"float from f32", float32(0.5), asFloat, 0.5, ""},
		{"float from f64", 0.1, asFloat, 0.1, ""},
		{"float from NaN", math.NaN(), asFloat, nil, "f64"},
		{"float from infinity", float32(math.Inf(-1)), asFloat, nil, "f32"},
		{"float from integer", uint32(1), asFloat, nil, "u32 1"},
		{"bool", true, asBool, true, ""},
		{"bool from u8", uint8(1), asBool, nil, "u8 1"},
		{"string", "a\x00\xff", asString, "a\x00\xff", ""},
		{"string from array", []string{"a"}, asString, nil, "an array of 1 string"},
		{"strings", []string{"", "ab", "\x00"}, asStrings, []string{"", "ab", "\x00"}, ""},
		{"no strings", []string{}, asStrings, []string{}, ""},
		{"strings from string", "a", asStrings, nil, "a string of 1 bytes"},
		{"strings from numbers", []uint8{1}, asStrings, nil, "an array of 1 u8"},
		{"ints from i16", []int16{-5, 5}, asInts, []int64{-5, 5}, ""},
		{"ints from u64 beyond int64", []uint64{1, 1 << 63}, asInts, nil, "0x8000000000000000"},
		{"ints from floats", []float32{1}, asInts, nil, "an array of 1 f32"},
		{"ints from one int", int32(1), asInts, nil, "i32 1"},
		{"floats from f32", []float32{1.5, -2}, asFloats, []float32{1.5, -2}, ""},
		{"floats from f64", []float64{1.5}, asFloats, []float32{1.5}, ""},
		{"floats from u8", []uint8{1}, asFloats, nil, "an array of 1 u8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Parse("f", new(gguf.Builder).Set("k", c.value).Bytes())
			if err != nil {
				t.Fatal(err)
			}
			got, found, err := c.get(f)
			if !found {
				t.Error("not found")
			}
			var m *MalformedError
			switch {
			case c.want == nil && (!errors.As(err, &m) || !strings.Contains(m.Got, c.got) || !strings.Contains(m.Field, `metadata "k"`)):
				t.Errorf("got %v and error %v, want an error about %q", got, err, c.got)
			case c.want != nil && (err != nil || !reflect.DeepEqual(got, c.want)):
				t.Errorf("got %v and error %v, want %v", got, err, c.want)
			}
			if got, found, err := c.get(mustParse(t, new(gguf.Builder))); found || err != nil || !reflect.ValueOf(got).IsZero() {
				t.Errorf("without the key: got %v, %v, %v", got, found, err)
			}
		})
	}
}

func mustParse(t *testing.T, b *gguf.Builder) *File {
	t.Helper()
	f, err := Parse("f", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}
