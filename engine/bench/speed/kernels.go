package speed

import (
	"context"
	"fmt"
	"slices"
	"time"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/kernels/format"
)

// raise sets each ceiling of c to that of the second argument, if the latter is higher.
func raise(c *compute.Ceilings, to compute.Ceilings) {
	c.ReadBytesPerS = max(c.ReadBytesPerS, to.ReadBytesPerS)
	c.FloatMulPerS = max(c.FloatMulPerS, to.FloatMulPerS)
	c.IntegerMulPerS = max(c.IntegerMulPerS, to.IntegerMulPerS)
}

// Product is one shape of matrix product in a model. All its weights of this shape are multiplied in
// turn, so that they come from memory, as in a pass, and not from a cache.
type Product struct {
	Type    string `json:"type"`
	Rows    int    `json:"rows"`
	Cols    int    `json:"cols"`
	Weights int    `json:"weights"` // number of matrices of this shape
	M       int    `json:"m"`       // rows of activations
	// Integers says that weights and activations are multiplied as bytes, as with every quantised type, and
	// not as floats.
	Integers bool    `json:"integers"`
	US       float64 `json:"us"`        // microseconds of one product
	Bytes    float64 `json:"bytesPerS"` // bytes of weights per second
	Muls     float64 `json:"mulPerS"`   // multiplications per second
	// OfReading is the median over all turns of Bytes divided by the speed at which memory was read just
	// before. Ceilings.ReadBytesPerS was measured at another moment, and a virtual machine may read twice
	// as fast a second later.
	OfReading float64 `json:"ofReading"`

	ofReading []float64 // the values whose median is OfReading, one for each turn
}

// Verification is the cost of a pass of M rows after contextTokens tokens.
type Verification struct {
	M         int     `json:"m"`
	MS        float64 `json:"ms"`
	Ratio     float64 `json:"ratio"`     // time divided by that of a pass of one row, median over the runs
	WaitingMS float64 `json:"waitingMS"` // time that a thread waited for the other threads
	// Experts is how many experts of a layer the pass reads, on average; 0 if the model has none.
	Experts float64 `json:"experts,omitempty"`
}

// Waiter is a backend whose threads wait for each other within a pass.
type Waiter interface {
	// Waited returns the time that a thread has waited since the backend was made, on average.
	Waited() time.Duration
}

// Kernels is the result of MeasureKernels.
type Kernels struct {
	Device        string           `json:"device"`
	Detail        string           `json:"detail"`
	Model         string           `json:"model"`
	ContextTokens int              `json:"contextTokens"`
	Ceilings      compute.Ceilings `json:"ceilings"`
	Products      []Product        `json:"products"`
	Verifications []Verification   `json:"verifications"`
}

const (
	contextTokens = 64
	// runs is how often each measurement is repeated. Short passes are repeated more often: until
	// passTime is over, but at most mostRuns times. The result is the least time of a product, and the
	// median time of a pass.
	runs, mostRuns = 7, 200
	passTime       = time.Second
	// productTime limits the runs of one product in a turn. There are several turns, because a machine
	// may be slow for a while.
	productTime, productTurns = 70 * time.Millisecond, 5
)

// productRows and passRows are the numbers of rows that are measured.
func productRows() []int { return []int{1, 5, 9, 64} }
func passRows() []int    { return []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 28, 32} }

// MeasureKernels times each shape of product in a model, for the matrices in m.Matrices. It also times
// passes over the numbers of rows in passRows that the model's buffers and context allow. It measures the
// ceilings again before the products of each shape. The results are the highest ceilings, the least time of
// each product, and the median time of each pass.
func MeasureKernels(ctx context.Context, backend compute.Backend, m *model.Model, ceilings func() compute.Ceilings, now func() time.Time) (*Kernels, error) {
	info := backend.Info()
	k := &Kernels{Device: info.Name, Detail: info.Detail, ContextTokens: contextTokens}
	for range productTurns {
		if err := k.timeProducts(ctx, backend, byShape(m.Matrices()), ceilings, now); err != nil {
			return nil, err
		}
	}
	for i := range k.Products {
		k.Products[i].OfReading = median(k.Products[i].ofReading)
	}
	return k, k.timePasses(ctx, backend, m, now)
}

// timeProducts times each shape again, and keeps the least time.
func (k *Kernels) timeProducts(ctx context.Context, backend compute.Backend, groups [][]model.Matrix, ceilings func() compute.Ceilings, now func() time.Time) error {
	for i, group := range groups {
		c := ceilings()
		raise(&k.Ceilings, c)
		for j, rows := range productRows() {
			p, err := timeProduct(ctx, backend, group, rows, now)
			if err != nil {
				return fmt.Errorf("timing a product of %d × %d: %w", p.Rows, p.Cols, err)
			}
			at := i*len(productRows()) + j
			if at == len(k.Products) {
				k.Products = append(k.Products, p)
			}
			best := &k.Products[at]
			p.ofReading = best.ofReading
			if c.ReadBytesPerS > 0 {
				p.ofReading = append(p.ofReading, p.Bytes/c.ReadBytesPerS)
			}
			if p.US <= best.US {
				*best = p
			}
			best.ofReading = p.ofReading
		}
	}
	return nil
}

// byShape groups matrices of equal type and shape, in the order of their first appearance.
func byShape(matrices []model.Matrix) (groups [][]model.Matrix) {
	for _, w := range matrices {
		i := slices.IndexFunc(groups, func(g []model.Matrix) bool {
			return g[0].Type == w.Type && g[0].Taken.Rows() == w.Taken.Rows() && g[0].Taken.Cols() == w.Taken.Cols()
		})
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], w)
	}
	return groups
}

// timeProduct multiplies m rows with each matrix of a group, several times. It returns the mean
// time of a product in the fastest run.
func timeProduct(ctx context.Context, backend compute.Backend, group []model.Matrix, m int, now func() time.Time) (Product, error) {
	w := group[0]
	typ := format.Find(uint32(w.Type))
	p := Product{Type: typ.Name, Integers: typ.Quants != nil, Rows: w.Taken.Rows(), Cols: w.Taken.Cols(), Weights: len(group), M: m}
	x, err := backend.Buffer(m, w.Taken.Cols())
	if err != nil {
		return p, err
	}
	y, err := backend.Buffer(m, w.Taken.Rows())
	if err != nil {
		return p, err
	}
	least, deadline := time.Hour, now().Add(productTime)
	for run := 0; run == 0 || run < runs && now().Before(deadline); run++ {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		start := now()
		for _, w := range group {
			if err := backend.MatMul(y, x, m, w.Taken); err != nil {
				return p, err
			}
		}
		if err := finish(backend, y); err != nil {
			return p, err
		}
		least = min(least, now().Sub(start))
	}
	seconds := least.Seconds() / float64(len(group))
	p.US, p.Bytes = seconds*1e6, float64(w.Bytes)/seconds
	p.Muls = float64(m) * float64(p.Rows) * float64(p.Cols) / seconds
	return p, nil
}

// finish waits until the device has finished, by reading a number.
func finish(backend compute.Backend, y compute.Buffer) error {
	logits, err := backend.Logits(y, 1)
	if err != nil {
		return err
	}
	return logits.Argmax(make([]int32, 1))
}

func (k *Kernels) timePasses(ctx context.Context, backend compute.Backend, m *model.Model, now func() time.Time) error {
	cache, err := m.NewCache()
	if err != nil {
		return err
	}
	defer cache.Close()
	ids := promptOf(contextTokens+mostRuns*8+passRows()[len(passRows())-1], m)
	if _, err := m.Prefill(ctx, cache, ids[:contextTokens], nil); err != nil {
		return fmt.Errorf("reading %d tokens: %w", contextTokens, err)
	}
	if err := compute.Checkpoint(cache); err != nil {
		return err
	}
	for _, rows := range passRows() {
		if rows > m.Config().MaxRows || contextTokens+rows > cache.Cap() {
			break
		}
		k.Verifications = append(k.Verifications, Verification{M: rows})
	}
	// Passes of different lengths take turns, so that changes of the machine's speed affect all lengths.
	of, touched := make([]series, len(k.Verifications)), make([]compute.Touched, len(k.Verifications))
	waited := func() time.Duration { return 0 }
	if w, ok := backend.(Waiter); ok {
		waited = w.Waited
	}
	deadline := now().Add(passTime)
	for run := 0; run < runs || run < mostRuns && now().Before(deadline); run++ {
		for i, v := range k.Verifications {
			read := m.ExpertsTouched()
			before, start := waited(), now()
			logits, err := m.Forward(ctx, cache, ids[contextTokens+8*run:][:v.M]) // other tokens in each run, because they choose other experts
			if err == nil {
				err = logits.Argmax(make([]int32, v.M))
			}
			if err != nil {
				return fmt.Errorf("timing a pass of %d rows: %w", v.M, err)
			}
			s := &of[i]
			s.ms = append(s.ms, milliseconds(now().Sub(start)))
			s.ratios = append(s.ratios, s.ms[run]/of[0].ms[run])
			s.waiting = append(s.waiting, milliseconds(waited()-before))
			touched[i] = touched[i].Plus(m.ExpertsTouched().Minus(read))
			if err := cache.Truncate(contextTokens); err != nil {
				return err
			}
		}
	}
	for i := range k.Verifications {
		v := &k.Verifications[i]
		v.MS, v.Ratio, v.WaitingMS = median(of[i].ms), median(of[i].ratios), median(of[i].waiting)
		v.Experts = touched[i].Mean()
	}
	return nil
}

// series has the measurements of passes over one number of rows, by run.
type series struct{ ms, ratios, waiting []float64 }

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// median returns 0 for no values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}
