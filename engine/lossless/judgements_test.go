package lossless_test

import (
	"specula/engine/compute"
	"specula/engine/oracle"
	"specula/engine/sample"
)

// judgements are how the device judges a sampled draft.
var judgements = map[compute.Judgement]func(l *judging, t *drafted, v *compute.Drawn) error{
	compute.EachToken: (*judging).judgeEach, compute.OwnDraws: (*judging).drawOwn, compute.WholeBlock: (*judging).judgeBlock,
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

// judgeBlock is compute.WholeBlock.
func (l *judging) judgeBlock(t *drafted, v *compute.Drawn) error {
	w := 1.0
	var rest, p []float64 // the residual after the accepted tokens; p of their row
	for i := range v.Draft {
		v.Draft[i].Bound = -1
	}
	for i := 0; ; i++ {
		scores, err := l.edited(t, i)
		if err != nil {
			return err
		}
		end := scores == nil || i == t.by.Drafts || t.missing(i)
		var row, left []float64
		mass := w // at the end of the draft the block ends with probability w
		if scores != nil {
			row = oracle.Distribution(scores, filters(t.by.Target))
		}
		if !end {
			left, mass = make([]float64, len(row)), 0
			for y, q := range t.distribution(i, len(row)) {
				left[y] = max(0, w*row[y]-q)
				mass += left[y]
			}
		}
		all := 1.0
		if !end {
			all = mass + 1 - w
		}
		if i > 0 && w > 0 { // a mass of 0 leaves a bound of 0, also where all is 0
			v.Draft[i-1].Bound = 0
			if mass > 0 {
				v.Draft[i-1].Bound = mass / all
			}
		}
		if i == 0 || t.uniform(sample.AcceptTest, i-1)*all < mass {
			v.Accepted, rest, p = i, left, row
		}
		if !end {
			id := t.ids[1+i]
			v.Draft[i].P = row[id]
			w = min(1, w*row[id]/t.distribution(i, len(row))[id])
			continue
		}
		switch {
		case p == nil:
			v.Follows = -1
			return nil
		case rest == nil:
			v.Follows = pick(p, t.uniform(sample.BonusDraw, v.Accepted))
		default:
			v.Follows = pick(rest, t.uniform(sample.ResidualDraw, v.Accepted))
		}
		v.P = p[v.Follows]
		return nil
	}
}
