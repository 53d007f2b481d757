package shape

import "specula/engine/compute"

// Penalties lower the scores of tokens by how often they were written lately. (Keskar et al.,
// "CTRL", 2019, for repeat, with the correction of llama.cpp that a score below 0 is multiplied;
// OpenAI's API for frequency and presence.)
type Penalties struct {
	repeat, frequency, presence float32
	last                        int           // number of last tokens that are counted; −1 for all
	context                     []int32       // prompt and pushed tokens
	counts                      map[int32]int // how often each of the last tokens occurs among them; never 0
}

// NewPenalties returns Penalties. The parameter last is how many of the last tokens count, −1 for all.
func NewPenalties(repeat, frequency, presence float64, last int) *Penalties {
	return &Penalties{repeat: float32(repeat), frequency: float32(frequency), presence: float32(presence), last: last, counts: map[int32]int{}}
}

func (p *Penalties) Name() string { return "penalties" }

// Mild implements sample.Mild.
func (p *Penalties) Mild() {}

// Shape takes time in proportion to the number of different tokens that are counted.
func (p *Penalties) Shape(logits []float32) error {
	for id, n := range p.counts {
		if int(id) >= len(logits) {
			continue
		}
		score := float32(logits[id] * p.repeat)
		if logits[id] > 0 {
			score = logits[id] / p.repeat
		}
		logits[id] = finite(logits[id], float32(score-float32(float32(n)*p.frequency))-p.presence)
	}
	return nil
}

// Edits implements sample.Editor. If fewer tokens are counted than the longest draft has, it returns −1, so
// that no device edits: draft tokens could cease to count within the round.
func (p *Penalties) Edits() int {
	if 0 <= p.last && p.last < compute.MostDrafts {
		return -1
	}
	return len(p.counts)
}

// Edit implements sample.Editor.
func (p *Penalties) Edit(e *compute.Edits, token func(id int32) *compute.Edit) {
	e.Repeat, e.Frequency, e.Presence = p.repeat, p.frequency, p.presence
	for id, n := range p.counts {
		token(id).Count = int32(n)
	}
	for i := range e.Leaving {
		if at := len(p.context) + i - p.last; p.last > 0 && 0 <= at && at < len(p.context) {
			e.Leaving[i] = p.context[at]
		}
	}
}

// Push adds a token. So the oldest of the counted tokens may cease to count. Pop undoes both.
func (p *Penalties) Push(id int32) {
	p.context = append(p.context, id)
	p.counts[id]++
	if left := p.leaving(); left >= 0 {
		p.count(p.context[left], -1)
	}
}

func (p *Penalties) Pop(n int) {
	for range n {
		if left := p.leaving(); left >= 0 {
			p.counts[p.context[left]]++
		}
		end := len(p.context) - 1
		p.count(p.context[end], -1)
		p.context = p.context[:end]
	}
}

// leaving returns the index in context of the last token that does not count any more, or less than 0 if all
// tokens count.
func (p *Penalties) leaving() int {
	if p.last < 0 {
		return -1
	}
	return len(p.context) - 1 - p.last
}

func (p *Penalties) count(id int32, by int) {
	if p.counts[id] += by; p.counts[id] == 0 {
		delete(p.counts, id)
	}
}

func (p *Penalties) Reset(prompt []int32) error {
	p.context = p.context[:0]
	clear(p.counts)
	for _, id := range prompt {
		p.Push(id)
	}
	return nil
}
