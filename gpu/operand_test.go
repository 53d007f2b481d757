package gpu

import (
	"reflect"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/random"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

func TestRowsThatOnlyProductsReadAreWrittenAsTheirOperand(t *testing.T) {
	const rows, cols = 3, 512
	// These lie far from the other addresses, because the rows here are longer than the others are apart.
	const atNormed, atOther = driver.Pointer(1 << 20), driver.Pointer(1 << 24)
	weight := &matrix{rows: cols, cols: cols, format: cuda.Q8_0}
	const activations = driver.Pointer(1 << 28)
	converted := convert{cuda.Q8_0, activations, atNormed, rows, cols}
	of := norm{dst: atNormed, x: atX, w: atWeight, groups: rows, length: cols, eps: 1e-5}
	sum := addNorm{atY, of}
	gated := swiGLU{atNormed, atY, rows * cols}
	attended := combine{dst: atNormed, part: partial{heads: 8, headDim: 64}, rows: rows}
	times := product{dst: atQ, activations: activations, rows: rows, weight: weight}
	// again computes the converted rows anew, so that nothing reads the old ones any more.
	again := product{dst: atNormed, activations: activations, rows: rows, weight: weight}
	changed := func(c convert, change func(*convert)) convert {
		change(&c)
		return c
	}
	to := operand(converted)
	for name, c := range map[string]struct {
		operations []operation
		first      operation // what the first two become; nil: they stay
	}{
		"norm":                {[]operation{of, converted, times, again}, normOperand{to, addNorm{norm: of}}},
		"sum and norm":        {[]operation{sum, converted, times, again}, normOperand{to, sum}},
		"SwiGLU":              {[]operation{gated, converted, times, again}, swiGLUOperand{to, gated}},
		"attention":           {[]operation{attended, converted, times, again}, combineOperand{to, attended}},
		"others copied later": {[]operation{of, converted, copyBlock{dst: atOther, x: atQ}, again}, normOperand{to, addNorm{norm: of}}},
		"written by the next": {[]operation{of, converted, of}, normOperand{to, addNorm{norm: of}}},

		"the end of the pass":          {[]operation{of, converted, times}, nil},
		"converted for another format": {[]operation{of, converted, changed(converted, func(c *convert) { c.format = cuda.BFloat16 }), again}, nil},
		"added later":                  {[]operation{of, converted, add{atX, atNormed, rows * cols}, again}, nil},
		"part of them is added later":  {[]operation{of, converted, add{atX, atNormed + 4*cols, cols}, again}, nil},
		"an unknown reader":            {[]operation{of, converted, capRows{x: atQ}, again}, nil},
		"copied later":                 {[]operation{of, converted, move{atX, atNormed, 4}, again}, nil},
		"one row copied to a block":    {[]operation{of, converted, copyBlock{dst: atOther, x: atNormed + 4*cols, rows: 1, cols: cols}, again}, nil},
		"some are written again":       {[]operation{of, converted, product{dst: atNormed, activations: activations, rows: rows - 1, weight: weight}}, nil},
		"a format without such kernels": {[]operation{of, changed(converted, func(c *convert) { c.format = cuda.Half }),
			again}, nil},
		"other rows": {[]operation{of, changed(converted, func(c *convert) { c.x = atOther }),
			product{dst: atOther, activations: activations, rows: rows, weight: weight}}, nil},
		"more rows":                {[]operation{of, changed(converted, func(c *convert) { c.rows++ }), again}, nil},
		"groups that are no rows":  {[]operation{norm{atNormed, atX, atWeight, 2 * rows, cols / 2, 1e-5}, converted, again}, nil},
		"one part of attention":    {[]operation{combine{dst: atNormed, part: attended.part, rows: 1}, converted, again}, nil},
		"half of what SwiGLU made": {[]operation{swiGLU{atNormed, atY, 2 * rows * cols}, converted, again}, nil},
		"computed before another":  {[]operation{of, times, converted, again}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			want := append([]operation{}, c.operations...)
			if c.first != nil {
				want = append([]operation{c.first}, want[2:]...)
			}
			if got := joinOperands(c.operations, 0); !reflect.DeepEqual(got, want) {
				t.Errorf("became %v, want %v", got, want)
			}
		})
	}
}

// After a pass only its scores are read. So the last layer, too, can write rows that only a product reads as the
// operand of this product alone.
func TestRowsHaveNoMeaningAfterTheirPass(t *testing.T) {
	const activations, atScores = driver.Pointer(1 << 28), driver.Pointer(1 << 24)
	weight := &matrix{rows: 512, cols: 512, format: cuda.Q8_0}
	of := norm{dst: atNormed, x: atX, w: atWeight, groups: 1, length: 512, eps: 1e-5}
	converted := convert{cuda.Q8_0, activations, atNormed, 1, 512}
	scored := product{dst: atScores, activations: activations, rows: 1, weight: weight}
	for name, c := range map[string]struct {
		then   []operation
		scores driver.Pointer
		joined bool
	}{
		"the pass has its scores":                      {nil, atScores, true},
		"a token is chosen":                            {[]operation{findPeaks{scores: atScores}}, 0, true},
		"a token is chosen, its scores kept":           {[]operation{move{to: atOther, from: atScores, bytes: 4}, findPeaks{scores: atScores}}, 0, true},
		"the rows are the scores":                      {nil, atNormed, false},
		"a token is chosen by the rows":                {[]operation{findPeaks{scores: atNormed}}, 0, false},
		"the rows are copied before a token is chosen": {[]operation{copyBlock{dst: atOther, x: atNormed}, findPeaks{scores: atScores}}, 0, false},
		"the pass goes on":                             {nil, 0, false},
	} {
		operations := append([]operation{of, converted, scored}, c.then...)
		if got := len(joinOperands(operations, c.scores)) < 3+len(c.then); got != c.joined {
			t.Errorf("%s: joined is %v, want %v", name, got, c.joined)
		}
	}
}

// A layer of Q8_0 weights takes five launches for one row: the norm with q, k and v; attention with the work on
// heads before and the sum of the splits after it; its output, added to the stream; the norm with gate, up and
// SwiGLU; down, added to the stream. With more rows, the two norms and the heads have launches of their own; then
// also the splits and SwiGLU.
func TestLaunchesOfALayer(t *testing.T) {
	for rows, want := range map[int]int{1: 5, 2: 8, 4: 8, 5: 9, 8: 9, 9: 9, 16: 9, 17: 10} {
		count := func(layers int) int {
			shape := smallest
			shape.Layers, shape.Dim, shape.FFN, shape.HeadDim = layers, 512, 512, 128
			data, err := random.Hollow(shape, compute.Q8_0)
			if err != nil {
				t.Fatal(err)
			}
			d := newRecorder(t)
			b, err := newBackend(d)
			if err != nil {
				t.Fatal(err)
			}
			file, err := weights.Parse("hollow", data)
			if err != nil {
				t.Fatal(err)
			}
			m, err := model.Load(t.Context(), b, file, model.Options{MaxTokens: 64, MaxRows: 33, CacheType: compute.F16}, nil)
			if err != nil {
				t.Fatal(err)
			}
			cache, err := m.NewCache()
			if err != nil {
				t.Fatal(err)
			}
			d.log = nil
			logits, err := m.Forward(t.Context(), cache, make([]int32, rows))
			if err != nil {
				t.Fatal(err)
			}
			if err := logits.Argmax(make([]int32, rows)); err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			return len(d.log)
		}
		if got := (count(5) - count(2)) / 3; got != want {
			t.Errorf("%d rows: %d launches a layer, want %d", rows, got, want)
		}
	}
}
