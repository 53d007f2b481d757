package oracle

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"specula/engine/sample"
	"specula/engine/shape"
)

// Sampling describes how one reply is sampled.
type Sampling struct {
	Params   sample.Params
	Settings shape.Settings
	Texts    []string // the text of each token, by id
	Stops    []int32
	// Named returns the tokens that a name in a setting stands for; if it is nil, names are ids.
	Named func(name string) []int32
	// Encode returns the tokens of a text. Only DRY's breakers need it.
	Encode func(text string) []int32
	// Form returns, for a reply, which tokens may follow in its form, stop tokens included; nil if there
	// is no form.
	Form func(reply []int32) func(id int32) bool
}

// Distribution returns the distribution of the token after prompt and reply, from its raw scores.
// It is nil if no token is allowed.
func (s *Sampling) Distribution(scores []float32, prompt, reply []int32) []float64 {
	row := s.Row(scores, prompt, reply)
	if row == nil || !slices.ContainsFunc(row, func(z float32) bool { return !math.IsInf(float64(z), 0) }) {
		return nil
	}
	return Distribution(row, s.Params)
}

// Row returns the shaped scores of the token after prompt and reply, or nil if no token is allowed.
// The order and the formulas are those in the documentation of package shape.
func (s *Sampling) Row(scores []float32, prompt, reply []int32) []float32 {
	context := slices.Concat(prompt, reply)
	row := slices.Clone(scores)
	change := func(id int, score float64) {
		if !math.IsInf(float64(row[id]), -1) {
			row[id] = float32(min(max(score, -math.MaxFloat32), math.MaxFloat32))
		}
	}
	for _, b := range s.Settings.Tokens.Bias {
		at := strings.LastIndexByte(b, '=')
		by, _ := strconv.ParseFloat(strings.TrimSpace(b[at+1:]), 64)
		for _, id := range s.named(b[:at]) {
			change(int(id), float64(row[id])+by)
		}
	}
	penalties := s.Settings.Penalties
	for id, count := range counted(lastOf(context, penalties.Last)) {
		z := float64(row[id])
		if z > 0 {
			z /= penalties.Repeat
		} else {
			z *= penalties.Repeat
		}
		change(int(id), z-float64(count)*penalties.Frequency-penalties.Presence)
	}
	for id, n := range s.repetitions(context) {
		change(int(id), float64(row[id])-penalties.DryMultiplier*math.Pow(penalties.DryBase, float64(n-penalties.DryAllowed)))
	}
	return s.ban(row, reply)
}

// ban forbids the tokens that may not follow the reply. If no token is left and the form is complete, ban
// allows the first stop token, even if a setting forbids it. If no token is left otherwise, ban returns nil.
func (s *Sampling) ban(row []float32, reply []int32) []float32 {
	banned := s.banned(reply)
	permitted := func(int32) bool { return true }
	if s.Form != nil {
		permitted = s.Form(reply)
	}
	left := false
	for id := range row {
		if banned(int32(id)) || !permitted(int32(id)) {
			row[id] = float32(math.Inf(-1))
		}
		left = left || !math.IsInf(float64(row[id]), -1)
	}
	if !left && s.Form != nil && permitted(s.Stops[0]) { // the form is complete and nothing else is allowed, so the reply ends
		row[s.Stops[0]], left = 0, true
	}
	if !left {
		return nil
	}
	return row
}

func (s *Sampling) named(name string) []int32 {
	if s.Named != nil {
		return s.Named(name)
	}
	id, _ := strconv.Atoi(name)
	return []int32{int32(id)}
}

// banned returns a function that reports whether a setting forbids a token after the reply.
func (s *Sampling) banned(reply []int32) func(id int32) bool {
	all := func(names []string) (ids []int32) {
		for _, name := range names {
			ids = append(ids, s.named(name)...)
		}
		return ids
	}
	t := s.Settings.Tokens
	banned, allowed := all(t.Banned), all(t.Allowed)
	written := s.text(reply)
	return func(id int32) bool {
		stop := slices.Contains(s.Stops, id)
		// bad reports whether this token completes a bad word. A bad word that is in the reply already does not
		// count, because the settings may have changed since.
		bad := func(word string) bool {
			return strings.Contains((written + s.text([]int32{id}))[max(0, len(written)-len(word)+1):], word)
		}
		return slices.Contains(banned, id) || len(allowed) > 0 && !slices.Contains(allowed, id) && !stop ||
			stop && len(reply) < s.Settings.MinTokens || slices.ContainsFunc(t.BadWords, bad)
	}
}

// text returns the text of tokens.
func (s *Sampling) text(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		if int(id) < len(s.Texts) { // rows may have padding after the vocabulary
			b.WriteString(s.Texts[id])
		}
	}
	return b.String()
}

// Among returns a Form (see Sampling) in which the reply must be one of texts.
func (s *Sampling) Among(texts []string) func(reply []int32) func(id int32) bool {
	return func(reply []int32) func(id int32) bool {
		written := s.text(reply)
		return func(id int32) bool {
			if slices.Contains(s.Stops, id) {
				return slices.Contains(texts, written)
			}
			return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, written+s.Texts[id]) })
		}
	}
}

// repetitions returns, for each token that would continue a repetition, the length of the
// repetition.
func (s *Sampling) repetitions(context []int32) map[int32]int {
	p := s.Settings.Penalties
	out := map[int32]int{}
	if p.DryMultiplier == 0 {
		return out
	}
	window := lastOf(context, p.DryLast)
	breakers := s.breakers()
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
		if n < p.DryAllowed || limit < p.DryAllowed || single {
			continue
		}
		out[window[next]] = max(n, out[window[next]])
	}
	return out
}

// breakers returns the tokens in which a breaker can begin, each with the tokens that complete it.
func (s *Sampling) breakers() [][]int32 {
	var list [][]int32
	for id, token := range s.Texts {
		for _, text := range s.Settings.Penalties.DryBreakers {
			if strings.Contains(token, text) {
				list = append(list, []int32{int32(id)})
				continue
			}
			for n := 1; n < len(text); n++ {
				if strings.HasSuffix(token, text[:n]) {
					list = append(list, append([]int32{int32(id)}, s.Encode(text[n:])...))
				}
			}
		}
	}
	return list
}

func counted(ids []int32) map[int32]int {
	counts := map[int32]int{}
	for _, id := range ids {
		counts[id]++
	}
	return counts
}

func lastOf(context []int32, n int) []int32 {
	if n < 0 || n > len(context) {
		return context
	}
	return context[len(context)-n:]
}
