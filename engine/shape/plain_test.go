package shape_test

import (
	"math"
	"slices"
	"strings"

	"specula/engine/sample"
	"specula/engine/shape"
	"specula/engine/spec/gate"
)

// plain is sampling without speculation, as one says it: every token by itself, everything computed anew from the whole context.
type plain struct {
	settings shape.Settings
	params   sample.Params
	texts    []string // what each token says
	stops    []int32
	scores   func(context []int32) []float32
	form     []string // all texts that the reply may have; empty: any
}

// permits reports whether a reply can go on with a token to one of the texts, or end with it.
func (p *plain) permits(id int32, reply []int32) bool {
	written := ""
	for _, w := range reply {
		written += p.texts[w]
	}
	if p.form == nil || slices.Contains(p.stops, id) {
		return p.form == nil || slices.Contains(p.form, written)
	}
	return slices.ContainsFunc(p.form, func(text string) bool { return strings.HasPrefix(text, written+p.texts[id]) })
}

// row returns the target's shaped scores behind a context, or nil if nothing may be written.
func (p *plain) row(prompt, reply []int32) []float32 {
	context := slices.Concat(prompt, reply)
	row := slices.Clone(p.scores(context))
	change := func(id int, score float64) {
		if !math.IsInf(float64(row[id]), -1) {
			row[id] = float32(score)
		}
	}
	for _, b := range p.settings.Tokens.Bias {
		name, by, _ := strings.Cut(b, "=")
		change(number(name), float64(row[number(name)])+decimal(by))
	}
	pen := p.settings.Penalties
	for id := range row {
		count := 0
		for _, seen := range lastOf(context, pen.Last) {
			if int(seen) == id {
				count++
			}
		}
		if count == 0 {
			continue
		}
		z := float64(row[id])
		if z > 0 {
			z /= pen.Repeat
		} else {
			z *= pen.Repeat
		}
		change(id, z-float64(count)*pen.Frequency-pen.Presence)
	}
	for id, n := range p.repetitions(context) {
		change(int(id), float64(row[id])-pen.DryMultiplier*math.Pow(pen.DryBase, float64(n-pen.DryAllowed)))
	}
	left := false
	for id := range row {
		if p.banned(int32(id), reply) || !p.permits(int32(id), reply) {
			row[id] = float32(math.Inf(-1))
		}
		left = left || !math.IsInf(float64(row[id]), -1)
	}
	if !left && p.form != nil && p.permits(p.stops[0], reply) { // complete, and nothing else to say: then it ends
		row[p.stops[0]], left = 0, true
	}
	if !left {
		return nil
	}
	return row
}

func (p *plain) banned(id int32, reply []int32) bool {
	named := func(list []string) bool {
		return slices.ContainsFunc(list, func(name string) bool { return number(name) == int(id) })
	}
	t := p.settings.Tokens
	stop := slices.Contains(p.stops, id)
	written := ""
	for _, w := range reply {
		written += p.texts[w]
	}
	bad := func(word string) bool { // a bad word that was written before it became one is no more to be prevented
		return strings.Contains((written + p.texts[id])[max(0, len(written)-len(word)+1):], word)
	}
	return named(t.Banned) || len(t.Allowed) > 0 && !named(t.Allowed) && !stop ||
		stop && len(reply) < p.settings.MinTokens || slices.ContainsFunc(t.BadWords, bad)
}

// repetitions says for each token that would make a repetition longer, how long that is.
func (p *plain) repetitions(context []int32) map[int32]int {
	pen := p.settings.Penalties
	out := map[int32]int{}
	if pen.DryMultiplier == 0 {
		return out
	}
	window := lastOf(context, pen.DryLast)
	breakers := breakerSequences(p.texts, pen.DryBreakers)
	limit := len(window)
	for at := len(window) - 1; at >= 0 && limit == len(window); at-- {
		longest := 0
		for _, b := range breakers {
			if len(b) > longest && at+len(b) <= len(window) && slices.Equal(window[at:at+len(b)], b) {
				longest = len(b)
			}
		}
		if longest > 0 {
			limit = len(window) - at - longest
			break
		}
	}
	for next := 1; next < len(window); next++ {
		n := 0
		for n < min(next, limit) && window[next-1-n] == window[len(window)-1-n] {
			n++
		}
		single := slices.ContainsFunc(breakers, func(b []int32) bool { return len(b) == 1 && b[0] == window[next] })
		if n < pen.DryAllowed || limit < pen.DryAllowed || single {
			continue
		}
		out[window[next]] = max(n, out[window[next]])
	}
	return out
}

// breakerSequences are the tokens that a breaking text can begin in, with those that complete it.
func breakerSequences(texts, breakers []string) [][]int32 {
	var list [][]int32
	for id, token := range texts {
		for _, text := range breakers {
			if strings.Contains(token, text) {
				list = append(list, []int32{int32(id)})
				continue
			}
			for n := 1; n < len(text); n++ {
				if strings.HasSuffix(token, text[:n]) {
					list = append(list, append([]int32{int32(id)}, encode(texts, text[n:])...))
				}
			}
		}
	}
	return list
}

// encode takes the longest token that fits, again and again. A byte without a token is left out, as tokenizers do.
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

func lastOf(context []int32, n int) []int32 {
	if n < 0 || n > len(context) {
		return context
	}
	return context[len(context)-n:]
}

// distribution is that of the next token, nil if there is none.
func (p *plain) distribution(prompt, reply []int32) []float64 {
	row := p.row(prompt, reply)
	if row == nil || !slices.ContainsFunc(row, func(z float32) bool { return !math.IsInf(float64(z), 0) }) {
		return nil
	}
	return gate.Distribution(row, p.params)
}

// pick is the token that u falls on.
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

// verdict is what came of a round: the tokens, or that no token may be written behind some of them.
type verdict struct {
	tokens []int32
	stuck  bool
}

// round writes the next tokens by a rule of acceptance.
type round func(p *plain, prompt, reply, draft []int32, q [][]float64, u sample.Uniforms, number int) verdict

// ownDraws is the target drawing for itself, token by token: the rule exact, and every rule at temperature 0.
func ownDraws(p *plain, prompt, reply, draft []int32, _ [][]float64, u sample.Uniforms, _ int) verdict {
	var out []int32
	for i := 0; ; i++ {
		d := p.distribution(prompt, slices.Concat(reply, out))
		if d == nil {
			return verdict{out, true}
		}
		id := pick(d, u.Uniform(sample.TargetDraw, 0, len(reply)+i))
		out = append(out, id)
		if i >= len(draft) || id != draft[i] || slices.Contains(p.stops, id) {
			return verdict{out, false}
		}
	}
}

// byToken tests p against q, until one is refused.
func byToken(p *plain, prompt, reply, draft []int32, q [][]float64, u sample.Uniforms, number int) verdict {
	for i, id := range draft {
		d := p.distribution(prompt, slices.Concat(reply, draft[:i]))
		if d == nil {
			return verdict{draft[:i], true}
		}
		if u.Uniform(sample.AcceptTest, number, i)*q[i][id] >= d[id] {
			rest := residual(1, d, q[i])
			return verdict{append(slices.Clone(draft[:i]), pick(rest, u.Uniform(sample.ResidualDraw, number, i))), false}
		}
		if slices.Contains(p.stops, id) {
			return verdict{draft[:i+1], false}
		}
	}
	return p.bonus(prompt, reply, draft, u, number)
}

// byBlock judges the draft as a whole; see blockwise in package spec for the formulas.
func byBlock(p *plain, prompt, reply, draft []int32, q [][]float64, u sample.Uniforms, number int) verdict {
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
		stopped = slices.Contains(p.stops, draft[n])
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

func (p *plain) bonus(prompt, reply, draft []int32, u sample.Uniforms, number int) verdict {
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
