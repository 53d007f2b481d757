package shape

import "specula/engine/compute"

// stateless is embedded in a Shaper that does not depend on the context.
type stateless struct{}

func (stateless) Push(int32)          {}
func (stateless) Pop(int)             {}
func (stateless) Reset([]int32) error { return nil }

// Bias adds to the scores of single tokens.
type Bias struct {
	stateless
	added map[int32]float32
}

// NewBias adds added[id] to the score of id.
func NewBias(added map[int32]float64) *Bias {
	b := &Bias{added: make(map[int32]float32, len(added))}
	for id, by := range added {
		b.added[id] = float32(by)
	}
	return b
}

func (b *Bias) Name() string { return "logit bias" }

func (b *Bias) Shape(logits []float32) error {
	for id, by := range b.added {
		if int(id) < len(logits) {
			logits[id] = finite(logits[id], logits[id]+by)
		}
	}
	return nil
}

// Edits implements sample.Editor.
func (b *Bias) Edits() int { return len(b.added) }

// Edit implements sample.Editor.
func (b *Bias) Edit(_ *compute.Edits, token func(id int32) *compute.Edit) {
	for id, by := range b.added {
		token(id).Bias = by
	}
}
