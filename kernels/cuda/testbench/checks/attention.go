package checks

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/ref"
)

// sequence is a KV cache on the device, and what should be in it.
type sequence struct {
	launch                   Launch
	half                     bool
	heads, kvHeads, capacity int
	keyDim, valueDim         int
	padding                  int // the stored length of a half-precision key
	keys, values             any
	length                   []int32
	window                   int
	limit                    float32 // of scores; 0: none
	sinks                    any     // []float32 with a score for each head; nil: none
	fresh                    fresh   // the row whose heads attention prepares itself; empty: none
	fetched                  fetched // what extra blocks of attention fetch
	// everything ever appended, as stored: (tokens, kvHeads·keyDim) and (tokens, kvHeads·valueDim)
	k, v []float32
}

const notANumber = 0xffff

// newSequence makes an empty cache with values as long as keys.
func newSequence(launch Launch, half bool, heads, kvHeads, headDim, capacity int) *sequence {
	return unlikeSequence(launch, half, heads, kvHeads, headDim, headDim, capacity)
}

func unlikeSequence(launch Launch, half bool, heads, kvHeads, keyDim, valueDim, capacity int) *sequence {
	s := &sequence{launch: launch, half: half, heads: heads, kvHeads: kvHeads, keyDim: keyDim, valueDim: valueDim,
		capacity: capacity, length: []int32{0}}
	s.padding = (keyDim + 31) / 32 * 32
	if half {
		keys, values := make([]uint16, kvHeads*capacity*s.padding), make([]uint16, kvHeads*capacity*valueDim)
		for _, x := range [][]uint16{keys, values} {
			for i := range x {
				x[i] = notANumber
			}
		}
		s.keys, s.values = keys, values
	} else {
		s.keys, s.values = garbage(kvHeads*capacity*keyDim), garbage(kvHeads*capacity*valueDim)
	}
	return s
}

func (s *sequence) rowSize() int   { return s.kvHeads * s.keyDim }
func (s *sequence) valueSize() int { return s.kvHeads * s.valueDim }

// fill appends random rows: first length rows, which it adds to the length of the cache, then more rows
// after the length.
func (s *sequence) fill(r *rand.Rand, length, more int) {
	if length > 0 {
		s.append(numbers(r, length*s.rowSize()), numbers(r, length*s.valueSize()), 0)
		s.length[0] = int32(length)
	}
	s.append(numbers(r, more*s.rowSize()), numbers(r, more*s.valueSize()), 0)
}

func (s *sequence) name(kernel string) string {
	if s.half {
		return kernel + "_half"
	}
	return kernel + "_float"
}

// append stores rows at position length+ahead, and does not change the length.
func (s *sequence) append(k, v []float32, ahead int) {
	rows := len(k) / s.rowSize()
	s.launch(s.name("append"), [3]int{2, rows, 1}, line(64), s.keys, s.values, k, v, s.length, int32(ahead),
		int32(s.kvHeads), int32(s.keyDim), int32(s.valueDim), int32(s.capacity))
	s.k = append(s.k[:(int(s.length[0])+ahead)*s.rowSize()], k...)
	s.v = append(s.v[:(int(s.length[0])+ahead)*s.valueSize()], v...)
}

// attend computes attention for the rows of q. tiles is the number of tiles of eight columns in a block, where
// a column is a query that reads the block's key head. most is the number of splits in the grid.
func (s *sequence) attend(q []float32, ahead, tiles, most int) []float32 {
	partial, stats := s.attendSplits(q, ahead, tiles, most, int32(cuda.NoOperand), uint64(0), uint64(0), int32(0))
	rows := len(q) / (s.heads * s.keyDim)
	dst := garbage(rows * s.heads * s.valueDim)
	s.launch("combine_splits", [3]int{s.heads, rows, 1}, line((min(s.valueDim, 256)+31)/32*32),
		dst, partial, stats, s.length, int32(ahead),
		int32(s.heads), int32(s.valueDim), int32(most), int32(s.window), s.sinks)
	return dst
}

// attendSplits computes the partial results of the splits. then are the arguments that tell a half-precision
// kernel in which form and where to write the combined results: form, counters, operand, slabs.
func (s *sequence) attendSplits(q []float32, ahead, tiles, most int, then ...any) (partial, stats []float32) {
	rows := len(q) / (s.heads * s.keyDim)
	scale := float32(1 / math.Sqrt(float64(s.keyDim)))
	partial, stats = garbage(rows*s.heads*most*s.valueDim), garbage(rows*s.heads*most*2)
	kernel := "attend_float"
	sharing := s.heads / s.kvHeads
	grid := [3]int{most, s.kvHeads, (rows*sharing + 8*tiles - 1) / (8 * tiles)}
	arguments := []any{partial, stats, q, s.keys, s.values, s.length, int32(ahead), int32(rows), int32(s.kvHeads), int32(sharing), uint32((1<<31 + sharing - 1) / sharing)}
	limits := []any{int32(s.capacity), scale, int32(s.window), s.limit}
	if s.half {
		kernel = fmt.Sprintf("attend_half_%d", s.keyDim)
		if tiles > 1 {
			kernel += "_wide"
		}
		limits = append(append(limits, then...), s.sinks)
		if tiles == 1 {
			limits = append(limits, s.fresh.arguments()...)
		}
		limits = append(limits, s.fetched.arguments()...)
		grid[1] += s.fetched.blocks
	} else {
		arguments = append(arguments, int32(s.keyDim), int32(s.valueDim))
	}
	s.launch(kernel, grid, line(256), append(arguments, limits...)...)
	return partial, stats
}

// checkOperand checks that attention that also combines its splits writes the same operand as a separate
// launch that combines them.
func (s *sequence) checkOperand(t *testing.T, what string, q []float32, ahead, tiles, most int) {
	t.Helper()
	if !s.half || s.valueDim%32 != 0 {
		return // there is no kernel for that
	}
	cols := s.heads * s.valueDim
	rows, slabs := len(q)/(s.heads*s.keyDim), (cols+127)/128
	partial, stats := s.attendSplits(q, ahead, tiles, most, int32(cuda.NoOperand), uint64(0), uint64(0), int32(0))
	for form, o := range map[int]operand{cuda.BFloat16Operand: operands[0], cuda.Int8Operand: operands[1]} {
		got := bytes.Repeat([]byte{0xab}, (rows+7)/8*slabs*o.slabBytes)
		want, arrived := slices.Clone(got), make([]uint32, s.kvHeads)
		s.launch("combine_splits_"+o.suffix, [3]int{1, rows, 1}, line(256), want, partial, stats, s.length, int32(ahead),
			int32(s.heads), int32(s.valueDim), int32(most), int32(s.window), s.sinks, int32(slabs))
		s.attendSplits(q, ahead, tiles, most, int32(form), arrived, got, int32(slabs))
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the operand in %s differs from that of a launch of its own", what, o.suffix)
		}
		if slices.Max(arrived) != 0 {
			t.Errorf("%s: counters are %v after the launch, want 0", what, arrived)
		}
	}
}

// head returns the first n tokens' keys and values of one key head.
func (s *sequence) head(h, n int) ref.Head {
	out := ref.Head{KeyDim: s.keyDim, ValueDim: s.valueDim}
	for i := range n {
		key, value := i*s.rowSize()+h*s.keyDim, i*s.valueSize()+h*s.valueDim
		out.Keys = append(out.Keys, s.k[key:key+s.keyDim]...)
		out.Values = append(out.Values, s.v[value:value+s.valueDim]...)
	}
	return out
}

// want returns the reference's attention, and its largest distance from the exact result.
func (s *sequence) want(q []float32, ahead int) (dst []float32, distance float64) {
	rows := len(q) / (s.heads * s.keyDim)
	position := int(s.length[0]) + ahead
	scale := 1 / math.Sqrt(float64(s.keyDim))
	dst, exact := make([]float32, rows*s.heads*s.valueDim), make([]float64, rows*s.heads*s.valueDim)
	attend := ref.AttendFloat
	if s.half {
		attend = ref.AttendHalf
	}
	for i := range rows {
		for h := range s.heads {
			at := i*s.heads + h
			attend(rowOf(dst, at, s.valueDim), rowOf(q, at, s.keyDim), s.head(h*s.kvHeads/s.heads, position+i+1),
				ref.Sight{Seen: position + i + 1, Window: s.window, Scale: float32(scale), Cap: s.limit, Sink: s.sink(h)})
		}
	}
	sinks, _ := s.sinks.([]float32)
	ref.Attend{Position: position, Heads: s.heads, KVHeads: s.kvHeads, KeyDim: s.keyDim, ValueDim: s.valueDim, Scale: scale,
		Window: s.window, Limit: float64(s.limit), Sinks: sinks}.Rows(exact, q, s.k, s.v, rows)
	for i := range exact {
		distance = math.Max(distance, math.Abs(exact[i]-float64(dst[i])))
	}
	return dst, distance
}

// sink returns a head's sink, or nil.
func (s *sequence) sink(head int) *float32 {
	if sinks, ok := s.sinks.([]float32); ok {
		return &sinks[head]
	}
	return nil
}

// Bound is how far attention may be from the exact result for numbers around one. With a
// half-precision cache, queries and weights are rounded too.
func Bound(half bool) float64 {
	if half {
		return 4e-3
	}
	return 2e-6
}

func (s *sequence) tiles() []int {
	switch {
	case !s.half:
		return []int{1}
	case s.keyDim != s.valueDim:
		return []int{2}
	case s.keyDim >= 256:
		return []int{1, 2}
	}
	return []int{1, 4}
}

// Attention checks attention over a cache of length tokens and three new rows, with every kernel
// for that head size. It returns the reference's distance from the exact result. exact says
// whether tensor cores add in ascending order; those of a real GPU do not.
func Attention(t *testing.T, launch Launch, half bool, headDim, length int, exact bool) float64 {
	t.Helper()
	return UnlikeAttention(t, launch, half, headDim, headDim, length, exact)
}

// UnlikeAttention is Attention with values that may have another length than keys. If they have, more columns
// read a key head than a block has room for, and a row alone must have the same bits as among the others.
func UnlikeAttention(t *testing.T, launch Launch, half bool, keyDim, valueDim, length int, exact bool) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(keyDim), uint64(length)))
	const rows = 3
	kvHeads, sharing := 1, 3 // nine columns: one more than a tile
	if keyDim == 64 {
		kvHeads = 2
	}
	if keyDim != valueDim {
		kvHeads, sharing = 2, 6
	}
	s := unlikeSequence(launch, half, kvHeads*sharing, kvHeads, keyDim, valueDim, 768)
	s.fill(r, length, rows)
	q := numbers(r, rows*s.heads*keyDim)
	want, distance := s.want(q, 0)
	for _, tiles := range s.tiles() {
		what := fmt.Sprintf("keys of %d and values of %d after %d tokens in %d tiles", keyDim, valueDim, length, tiles)
		got := s.attend(q, 0, tiles, 3)
		s.compare(t, what, got, want, exact)
		if keyDim == valueDim {
			continue
		}
		s.checkOperand(t, what, q, 0, tiles, 3)
		sameBits(t, what+", the last row alone", s.attend(rowOf(q, rows-1, s.heads*keyDim), rows-1, tiles, 3), rowOf(got, rows-1, s.heads*valueDim))
	}
	return distance
}

// compare compares with the reference. The bits must be equal if exact is set. They must also be equal if
// keys are float32, because these use no tensor cores. Else a bound holds: the tensor cores of a real card
// add in an order of their own.
func (s *sequence) compare(t *testing.T, what string, got, want []float32, exact bool) {
	t.Helper()
	if exact || !s.half {
		sameBits(t, what, got, want)
		return
	}
	for i, v := range got {
		if !(math.Abs(float64(v-want[i])) < 2e-3) {
			t.Errorf("%s: number %d is %g, want about %g", what, i, v, want[i])
			return
		}
	}
}

// Windows checks attention with a window, capped scores and sinks. Cases are splits that only some rows see,
// a window that begins with a split, a window of one key, a window that hides nothing, and sinks above and
// below all scores. exact is as in Attention. Rows must have the same bits alone and together in any case.
func Windows(t *testing.T, launch Launch, half bool, headDim int, exact bool) {
	t.Helper()
	for _, c := range []struct {
		length, window int
		limit          float32
		sinks          any
	}{{600, 300, 0, nil}, {600, 90, 5, nil}, {511, 2, 0, []float32{0, 1, 2}}, {509, 256, 0, nil}, {300, 1, 0, nil}, {300, 1000, 0, nil}, {10, 0, 2, nil},
		{10, 0, 0, []float32{-90, 1, 90}}} {
		r := rand.New(rand.NewPCG(uint64(c.length), uint64(c.window)))
		const rows, sharing, kvHeads = 5, 3, 1
		s := newSequence(launch, half, kvHeads*sharing, kvHeads, headDim, 768)
		s.window, s.limit, s.sinks = c.window, c.limit, c.sinks
		s.fill(r, c.length, rows)
		q := numbers(r, rows*s.heads*headDim)
		want, distance := s.want(q, 0)
		if !(distance <= 2*Bound(half)) {
			t.Errorf("%+v: the reference is %g from the exact result", c, distance)
		}
		together := s.attend(q, 0, 1, 3)
		s.compare(t, fmt.Sprintf("%+v", c), together, want, exact)
		for _, tiles := range s.tiles() {
			sameBits(t, fmt.Sprintf("%+v in %d tiles", c, tiles), s.attend(q, 0, tiles, 3), together)
			s.checkOperand(t, fmt.Sprintf("%+v in %d tiles", c, tiles), q, 0, tiles, 3)
		}
		one := s.heads * headDim
		for i := range rows {
			alone := s.attend(q[i*one:(i+1)*one], i, 1, 3)
			sameBits(t, fmt.Sprintf("%+v, row %d alone", c, i), alone, together[i*one:(i+1)*one])
		}
	}
}

// RowCounts checks that decoding, verification and prefill use the same arithmetic. The bits of a row must not
// depend on the rows that are computed with it, on rejected tokens that lie after it in the cache, or on the
// number of splits in the grid: a grid may be made for a longer sequence than the row sees. The first rows are
// decoded with one split. Verification has two, because its last rows see keys of the second.
func RowCounts(t *testing.T, launch Launch, half bool, counts []int) {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 8))
	const length, heads, kvHeads, headDim, split = 250, 4, 1, 64, 256 // the rows lie on both sides of the border of two splits
	rows := slices.Max(counts)
	s := newSequence(launch, half, heads, kvHeads, headDim, 512)
	s.append(numbers(r, length*s.rowSize()), numbers(r, length*s.rowSize()), 0)
	s.length[0] = length
	k, v, q := numbers(r, rows*s.rowSize()), numbers(r, rows*s.rowSize()), numbers(r, rows*heads*headDim)
	one := heads * headDim
	var decoded []float32
	for i := range rows {
		s.append(k[i*s.rowSize():(i+1)*s.rowSize()], v[i*s.rowSize():(i+1)*s.rowSize()], i)
		decoded = append(decoded, s.attend(q[i*one:(i+1)*one], i, 1, (length+i)/split+1)...)
	}
	for i := range 3 { // with all rows in the cache, as if they had been rejected
		for _, splits := range []int{1, 4} {
			again := s.attend(q[i*one:(i+1)*one], i, 1, splits)
			sameBits(t, fmt.Sprintf("row %d with others after it, in a grid of %d splits", i, splits), again, decoded[i*one:(i+1)*one])
		}
	}
	for _, m := range counts {
		for _, tiles := range s.tiles() {
			got := s.attend(q[:m*one], 0, tiles, 2)
			sameBits(t, fmt.Sprintf("%d rows in %d tiles", m, tiles), got, decoded[:m*one])
			s.checkOperand(t, fmt.Sprintf("%d rows in %d tiles", m, tiles), q[:m*one], 0, tiles, 2)
		}
	}
	for _, cut := range []int{1, rows / 2} { // prefill in chunks
		got := s.attend(q[:cut*one], 0, 1, 2)
		got = append(got, s.attend(q[cut*one:], cut, s.tiles()[len(s.tiles())-1], 2)...)
		sameBits(t, fmt.Sprintf("chunks of %d and the rest", cut), got, decoded)
	}
}

// TooSmallGrid checks that a grid with too few splits for the length gives NaN.
func TooSmallGrid(t *testing.T, launch Launch) {
	t.Helper()
	s := newSequence(launch, true, 2, 1, 64, 512)
	r := rand.New(rand.NewPCG(9, 9))
	s.append(numbers(r, 257*64), numbers(r, 257*64), 0)
	s.length[0] = 256
	for i, v := range s.attend(numbers(r, 2*64), 0, 1, 1) {
		if v == v {
			t.Errorf("a grid too small: number %d is %g, want NaN", i, v)
			return
		}
	}
}

// Cache checks that a cache gives back what was appended, rounded once. Truncating the cache changes only
// its length, and later rows must overwrite what was cut off.
func Cache(t *testing.T, launch Launch, half bool, keyDim, valueDim int) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	s := unlikeSequence(launch, half, 4, 2, keyDim, valueDim, 256)
	s.append(numbers(r, 5*s.rowSize()), numbers(r, 5*s.valueSize()), 0)
	s.length[0] = 3
	s.append(numbers(r, 2*s.rowSize()), numbers(r, 2*s.valueSize()), 1)
	key, value := garbage(s.rowSize()), garbage(s.valueSize())
	for i := range 6 {
		launch(s.name("read"), line(2), line(64), key, value, s.keys, s.values, int32(i), int32(2),
			int32(keyDim), int32(valueDim), int32(s.capacity))
		wantKey, wantValue := slices.Clone(rowOf(s.k, i, s.rowSize())), slices.Clone(rowOf(s.v, i, s.valueSize()))
		if half {
			for _, x := range [][]float32{wantKey, wantValue} {
				for d := range x {
					x[d] = ref.FromHalf(ref.ToHalf(x[d]))
				}
			}
		}
		sameBits(t, fmt.Sprintf("key of token %d", i), key, wantKey)
		sameBits(t, fmt.Sprintf("value of token %d", i), value, wantValue)
	}
}
