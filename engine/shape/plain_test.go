package shape_test

import (
	"slices"
	"strings"

	"specula/engine/oracle"
	"specula/engine/sample"
)

// model is a target whose replies are sampled without speculation.
type model struct {
	oracle.Sampling
	scores func(context []int32) []float32
}

// encode takes the longest token that fits, again and again. It leaves out bytes without a token,
// as tokenizers do.
func encode(texts []string, text string) []int32 {
	var ids []int32
	for text != "" {
		best := -1
		for id, token := range texts {
			if token != "" && strings.HasPrefix(text, token) && (best < 0 || len(token) > len(texts[best])) {
				best = id
			}
		}
		if best < 0 {
			text = text[1:]
			continue
		}
		ids = append(ids, int32(best))
		text = text[len(texts[best]):]
	}
	return ids
}

// modelOf returns sampling without settings. The first token ends a reply.
func modelOf(texts words) oracle.Sampling {
	return oracle.Sampling{Texts: texts, Stops: []int32{0}, Encode: texts.Encode}
}

// distribution returns the distribution of the next token, nil if there is none.
func (m *model) distribution(prompt, reply []int32) []float64 {
	return m.Distribution(m.scores(slices.Concat(prompt, reply)), prompt, reply)
}

// pick returns the token that u falls on.
func pick(p []float64, u float64) int32 {
	last, sum := int32(-1), 0.0
	for id, x := range p {
		if x == 0 {
			continue
		}
		last = int32(id)
		if sum += x; u < sum {
			break
		}
	}
	return last
}

// verdict is the result of a round: its tokens. stuck says that no token may be written after them.
type verdict struct {
	tokens []int32
	stuck  bool
}

// round writes the next tokens by a rule of acceptance.
type round func(p *model, prompt, reply, draft []int32, q [][]float64, u sample.Uniforms, number int) verdict

// ownDraws lets the target draw token by token: the rule exact, and each rule at temperature 0.
func ownDraws(p *model, prompt, reply, draft []int32, _ [][]float64, u sample.Uniforms, _ int) verdict {
	var out []int32
	for i := 0; ; i++ {
		d := p.distribution(prompt, slices.Concat(reply, out))
		if d == nil {
			return verdict{out, true}
		}
		id := pick(d, u.Uniform(sample.TargetDraw, 0, len(reply)+i))
		out = append(out, id)
		if i >= len(draft) || id != draft[i] || slices.Contains(p.Stops, id) {
			return verdict{out, false}
		}
	}
}

// byToken tests p against q until a token is rejected.
func byToken(p *model, prompt, reply, draft []int32, q [][]float64, u sample.Uniforms, number int) verdict {
	for i, id := range draft {
		d := p.distribution(prompt, slices.Concat(reply, draft[:i]))
		if d == nil {
			return verdict{draft[:i], true}
		}
		if u.Uniform(sample.AcceptTest, number, i)*q[i][id] >= d[id] {
			rest := residual(1, d, q[i])
			return verdict{append(slices.Clone(draft[:i]), pick(rest, u.Uniform(sample.ResidualDraw, number, i))), false}
		}
		if slices.Contains(p.Stops, id) {
			return verdict{draft[:i+1], false}
		}
	}
	return p.bonus(prompt, reply, draft, u, number)
}

// byBlock judges the draft as a whole; see blockwise in package spec for the formulas.
func byBlock(p *model, prompt, reply, draft []int32, q [][]float64, u sample.Uniforms, number int) verdict {
	w, dists := []float64{1}, [][]float64{}
	stuck, stopped := false, false
	n := 0
	for ; n < len(draft) && w[n] > 0 && !stopped; n++ {
		d := p.distribution(prompt, slices.Concat(reply, draft[:n]))
		if d == nil {
			stuck = true
			break
		}
		dists = append(dists, d)
		w = append(w, min(1, w[n]*d[draft[n]]/q[n][draft[n]]))
		stopped = slices.Contains(p.Stops, draft[n])
	}
	tau := 0
	for i := 1; i <= n; i++ {
		h := w[i]
		if i < n {
			mass := excess(w[i], dists[i], q[i])
			h = mass / (mass + 1 - w[i])
			if mass == 0 {
				h = 0
			}
		}
		if u.Uniform(sample.AcceptTest, number, i-1) < h {
			tau = i
		}
	}
	switch {
	case tau < n:
		rest := residual(w[tau], dists[tau], q[tau])
		return verdict{append(slices.Clone(draft[:tau]), pick(rest, u.Uniform(sample.ResidualDraw, number, tau))), false}
	case stuck:
		return verdict{draft[:n], true}
	case stopped:
		return verdict{draft[:n], false}
	}
	return p.bonus(prompt, reply, draft, u, number)
}

func (p *model) bonus(prompt, reply, draft []int32, u sample.Uniforms, number int) verdict {
	d := p.distribution(prompt, slices.Concat(reply, draft))
	if d == nil {
		return verdict{draft, true}
	}
	return verdict{append(slices.Clone(draft), pick(d, u.Uniform(sample.BonusDraw, number, len(draft)))), false}
}

func excess(w float64, p, q []float64) float64 {
	mass := 0.0
	for id := range p {
		mass += max(0, w*p[id]-q[id])
	}
	return mass
}

func residual(w float64, p, q []float64) []float64 {
	mass := excess(w, p, q)
	if mass == 0 {
		return p
	}
	rest := make([]float64, len(p))
	for id := range p {
		rest[id] = max(0, w*p[id]-q[id]) / mass
	}
	return rest
}
