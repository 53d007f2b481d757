package host

import (
	"fmt"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

// logits are the scores in a buffer. They count the bytes that a GPU would have copied to the host.
type logits struct {
	x          *buffer
	rows       int
	movedBytes int64
	syncs      int
}

var _ compute.Arithmetic = (*logits)(nil)

// Logits returns scores whose count of moved bytes starts at 0.
func (b *Backend) Logits(x compute.Buffer, m int) (compute.Logits, error) {
	_, xb := rows(x, m)
	xb.logits = logits{x: xb, rows: m}
	return &xb.logits, nil
}

func (l *logits) Rows() int  { return l.rows }
func (l *logits) Vocab() int { return l.x.cols }

func (l *logits) row(i int) []float32 { return l.x.data[i*l.x.cols : (i+1)*l.x.cols] }

func (l *logits) Argmax(dst []int32) error {
	require(len(dst) == l.rows, "Argmax to another number of rows")
	l.moved(4 * int64(l.rows))
	for i := range dst {
		best, ok := cpu.Argmax(l.row(i))
		if !ok {
			return fmt.Errorf("choosing the best token of row %d: %w", i, compute.ErrNotFinite)
		}
		dst[i] = int32(best)
	}
	return nil
}

func (l *logits) Row(i int, dst []float32) error {
	require(0 <= i && i < l.rows && len(dst) == l.x.cols, "Row outside the pass, or to another width")
	l.moved(4 * int64(l.x.cols))
	copy(dst, l.row(i))
	return nil
}

// moved counts bytes, and at most one wait per pass, because on a GPU the pass has finished after the
// first wait.
func (l *logits) moved(bytes int64) {
	l.movedBytes += bytes
	l.syncs = 1
}

func (l *logits) Moved() (bytes int64, syncs int) { return l.movedBytes, l.syncs }

func (*logits) Best(scores []float32) (best int, ok bool) { return cpu.Argmax(scores) }

func (*logits) Weights(dst []float64, scores []float32, peak float32, factor float64) float64 {
	return cpu.Weights(dst, scores, peak, factor)
}

func (*logits) Multiply(x []float64, factor float64) { cpu.Multiply(x, factor) }
