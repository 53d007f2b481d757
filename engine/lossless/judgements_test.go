package lossless_test

import (
	"specula/engine/compute"
	"specula/engine/oracle"
	"specula/engine/sample"
)

// judgements are how the device judges a sampled draft.
var judgements = map[compute.Judgement]func(l *judging, t *drafted, v *compute.Drawn) error{
	compute.EachToken: (*judging).judgeEach, compute.OwnDraws: (*judging).drawOwn,
}

// missing reports whether draft token i could not be drawn.
func (t *drafted) missing(i int) bool { return !t.by.Certain && t.q[i] == nil }

// distribution returns the q of draft token i.
func (t *drafted) distribution(i, vocab int) []float64 {
	q := make([]float64, vocab)
	if t.by.Certain {
		q[t.ids[1+i]] = 1
	} else {
		copy(q, t.q[i])
	}
	return q
}

// drawOwn is compute.OwnDraws.
func (l *judging) drawOwn(t *drafted, v *compute.Drawn) error {
	uniforms := sample.NewPhilox(t.by.Seed, int(t.by.Reply))
	for i := 0; ; i++ {
		scores, err := l.edited(t, i)
		if scores == nil {
			v.Follows = -1
			return err
		}
		p := oracle.Distribution(scores, filters(t.by.Target))
		v.Follows = pick(p, uniforms.Uniform(sample.TargetDraw, 0, t.by.Written+i))
		v.P = p[v.Follows]
		if i == t.by.Drafts || t.ids[1+i] != v.Follows {
			return nil
		}
		v.Draft[i].P = v.P
		v.Accepted++
	}
}
