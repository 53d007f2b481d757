package shape

// static is the part of a Shaper that does not care for the context.
type static struct{}

func (static) Push(int32)          {}
func (static) Pop(int)             {}
func (static) Reset([]int32) error { return nil }

// Bias adds to the scores of single tokens.
type Bias struct {
	static
	added map[int32]float64
}

// NewBias adds added[id] to the score of id.
func NewBias(added map[int32]float64) *Bias { return &Bias{added: added} }

func (b *Bias) Name() string { return "logit bias" }

func (b *Bias) Shape(logits []float32) error {
	for id, by := range b.added {
		if int(id) < len(logits) {
			logits[id] = finite(logits[id], float64(logits[id])+by)
		}
	}
	return nil
}
