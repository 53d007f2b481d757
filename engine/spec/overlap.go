package spec

import "specula/engine/sample"

// Overlaps returns for each of temperatures the probability that draft token 0 would be accepted, if the
// draft were drawn at this temperature. It is Σ min(target's distribution, draft's distribution) over all
// tokens (Leviathan et al. 2023, corollary 3.6), so it does not depend on the token that was drawn. scores
// are the draft's scores for token 0. p are the target's filters; the draft has the same but for the
// temperature. The result is nil if the target's distribution is one-hot.
func (v *Verifier) Overlaps(target Rows, scores []float32, p sample.Params, temperatures []float64) ([]float64, error) {
	v.fit(target.Vocab())
	v.sampler.Use(target)
	if err := target.Row(0, v.scores); err != nil {
		return nil, err
	}
	want, err := v.sampler.FromLogits(v.p, v.scores, p)
	if err != nil || want.P == nil {
		return nil, err
	}
	if len(v.other) != len(v.p) {
		v.other = make([]float64, len(v.p))
	}
	overlaps := make([]float64, len(temperatures))
	for i, t := range temperatures {
		p.Temperature = t
		q, err := v.sampler.FromLogits(v.other, scores[:min(len(scores), len(v.other))], p)
		if err != nil {
			return nil, err
		}
		overlaps[i] = overlap(want, q)
	}
	return overlaps, nil
}

// overlap returns Σ min(p, q).
func overlap(p, q sample.Dist) float64 {
	if q.P == nil {
		return p.Prob(q.Hot)
	}
	sum := 0.0
	drafted := q.P[:len(p.P)]
	for id, wanted := range p.P {
		sum += min(wanted, drafted[id])
	}
	return sum
}
