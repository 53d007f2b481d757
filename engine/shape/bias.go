package shape

// stateless is embedded in a Shaper that does not depend on the context.
type stateless struct{}

func (stateless) Push(int32)          {}
func (stateless) Pop(int)             {}
func (stateless) Reset([]int32) error { return nil }

// Bias adds to the scores of single tokens.
type Bias struct {
	stateless
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
