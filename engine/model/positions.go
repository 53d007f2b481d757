package model

import (
	"fmt"
	"math"
)

// ropeTables hold cosine and sine for every position, computed in float64 and rounded once.
type ropeTables struct {
	cos, sin           []float32 // cosine and sine of each angle: for each position a number for each pair that is rotated
	queryCos, querySin []float32 // tables for queries; the same as cos and sin unless queries grow with their position
}

// Scaling stretches the positions of a model to longer texts than it was trained on at first.
type Scaling struct {
	Type      string  // "" for none, "linear", "yarn", "longrope" or "dynamic"
	Factor    float64 // how much longer texts may be
	Original  int     // context length before scaling, in tokens
	BetaFast  float64 // YaRN: frequencies with more turns than this in Original tokens stay
	BetaSlow  float64 // YaRN: frequencies with fewer turns than this are divided by Factor
	Unrounded bool    // YaRN: the indexes between which frequencies change only partly are not rounded
	Magnitude float64 // factor of cosine and sine; 0 means 1
}

// placeLayers decides for each layer how it rotates positions: by the general table, by the table of the
// layers with a window, or not at all.
func (m *Model) placeLayers(w layerWindows) error {
	c := &m.config
	if c.Unrotated {
		return nil
	}
	tensor, factors := m.ropeFactors()
	all, err := newRopeTables(c, c.RopeDim, c.RopeBase, c.Scaling, factors)
	if err != nil {
		return fmt.Errorf("the tensor %q: %w", tensor, err)
	}
	near := &all
	nearDim := m.nearRopeDim(w)
	if scaling := c.windowScaling(m.arch.windows); w.size > 0 && (w.base != c.RopeBase || nearDim != c.RopeDim || scaling != c.Scaling || factors != nil && m.arch.windows.unscaled) {
		tables, err := newRopeTables(c, nearDim, w.base, scaling, nil)
		if err != nil {
			return err
		}
		near = &tables
	}
	for i := range m.layers {
		l := &m.layers[i]
		l.rope = &all
		if w.has(i) {
			l.rope = near
		}
		switch m.arch.rotates {
		case threeOfFour:
			if i%4 == 3 {
				l.rope = nil
			}
		case windowOnly:
			if w.size > 0 && l.window == 0 {
				l.rope = nil
			}
		}
	}
	return nil
}

// nearRopeDim returns how many numbers of a head are rotated in layers with a window.
func (m *Model) nearRopeDim(w layerWindows) int {
	for i := range m.layers {
		if w.has(i) {
			return m.layers[i].shape.ropeDim
		}
	}
	return m.config.RopeDim
}

// ropeFactors returns the divisors of the frequencies, or nil, and the name of their tensor. LongRoPE
// has two lists; the long one is used for caches of more than Original tokens.
func (m *Model) ropeFactors() (tensor string, factors []float32) {
	switch c := &m.config; {
	case c.Scaling.Type != "longrope":
		return "rope_freqs.weight", m.RopeFactors
	case c.MaxTokens > c.Scaling.Original:
		return "rope_factors_long.weight", m.LongFactors
	}
	return "rope_factors_short.weight", m.ShortFactors
}

// windowScaling is the scaling of positions in layers with a window.
func (c *Config) windowScaling(w windows) Scaling {
	if w.unscaled {
		return Scaling{}
	}
	return c.Scaling
}

// newRopeTables computes cosine and sine of the angle position·frequency, for MaxTokens positions and
// dim/2 frequencies. s changes the frequencies, and its Magnitude multiplies cosine and sine. factors
// divide the frequencies; nil stands for no factors. With a TemperatureScale, queries have tables of
// their own, which also grow with the position. Source: Su et al., RoFormer, 2021.
func newRopeTables(c *Config, dim int, base float64, s Scaling, factors []float32) (ropeTables, error) {
	frequencies, err := s.frequencies(base, dim, c.MaxTokens, factors)
	if err != nil {
		return ropeTables{}, err
	}
	pairs, magnitude := len(frequencies), s.Magnitude
	if magnitude == 0 {
		magnitude = 1
	}
	table := func() []float32 { return make([]float32, c.MaxTokens*pairs) }
	t := ropeTables{cos: table(), sin: table()}
	t.queryCos, t.querySin = t.cos, t.sin
	if c.TemperatureScale > 0 {
		t.queryCos, t.querySin = table(), table()
	}
	for position := range c.MaxTokens {
		grown := magnitude
		if c.TemperatureScale > 0 {
			grown *= 1 + c.TemperatureScale*math.Log(1+math.Floor(float64(position)/float64(c.TemperatureLength)))
		}
		for i, f := range frequencies {
			sin, cos := math.Sincos(float64(position) * f)
			at := position*pairs + i
			t.cos[at], t.sin[at] = float32(cos*magnitude), float32(sin*magnitude)
			t.queryCos[at], t.querySin[at] = float32(cos*grown), float32(sin*grown)
		}
	}
	return t, nil
}

// frequencies returns base^(−2i/dim) for each pair i, changed by the scaling and divided by the factors,
// for a context of this many tokens.
func (s Scaling) frequencies(base float64, dim, tokens int, factors []float32) ([]float64, error) {
	if s.Type == "dynamic" && tokens > s.Original {
		// Source: bloc97, «NTK-aware scaled RoPE», 2023, and its dynamic form in transformers.
		stretch := s.Factor*float64(tokens)/float64(s.Original) - (s.Factor - 1)
		base *= math.Pow(stretch, float64(dim)/float64(dim-2))
	}
	frequencies := make([]float64, dim/2)
	for i := range frequencies {
		f := math.Pow(base, -2*float64(i)/float64(dim))
		switch s.Type {
		case "linear":
			f /= s.Factor
		case "yarn":
			kept := s.kept(i, base, dim)
			f = f*kept + f/s.Factor*(1-kept)
		}
		if factors != nil {
			if by := float64(factors[i]); !(by > 0 && by <= math.MaxFloat32) {
				return nil, fmt.Errorf("a divisor of frequencies is %v at %d; allowed are positive finite numbers", by, i)
			}
			f /= float64(factors[i])
		}
		frequencies[i] = f
	}
	return frequencies, nil
}

// kept returns the fraction of frequency i that YaRN keeps; the rest is divided by Factor. The fraction
// is 1 for fast frequencies and 0 for slow ones. Source: Peng et al., YaRN, 2023, §3.2.
func (s Scaling) kept(i int, base float64, dim int) float64 {
	// pair returns the index, not rounded, of the frequency that makes this many turns in Original tokens.
	pair := func(turns float64) float64 {
		return float64(dim) * math.Log(float64(s.Original)/(turns*2*math.Pi)) / (2 * math.Log(base))
	}
	low, high := pair(s.BetaFast), pair(s.BetaSlow)
	if !s.Unrounded {
		low, high = math.Floor(low), math.Ceil(high)
	}
	low, high = max(low, 0), min(high, float64(dim-1))
	return 1 - min(max((float64(i)-low)/max(high-low, 0.001), 0), 1)
}

// readScaling reads how positions are scaled. The factors of Llama 3.1 and of LongRoPE are tensors.
func (m *metadata) readScaling(contextLength int, longFactors bool) Scaling {
	kind, _, err := m.file.String(m.key("rope.scaling.type"))
	m.err = first(m.err, err)
	s := Scaling{Type: kind, Original: m.count("rope.scaling.original_context_length", contextLength, mostTokens)}
	if longFactors {
		s.Type = "longrope"
	}
	switch s.Type {
	case "", "none", "linear":
		s.Type, s.Factor = "linear", m.number("rope.scale_linear", 1, 1e-3, 1e6)
		if kind == "linear" {
			s.Factor = m.number("rope.scaling.factor", 1, 1e-3, 1e6)
		}
		if s.Factor == 1 {
			return Scaling{}
		}
		return Scaling{Type: s.Type, Factor: s.Factor}
	case "longrope":
		if !longFactors {
			m.fail(m.key("rope.scaling.type"), `"longrope", and the tensor "rope_factors_long.weight" is missing`, "both or none of them")
		}
		s.Magnitude = m.number("rope.scaling.attn_factor", 1, 1e-3, 1e3)
	case "yarn":
		s.Factor = m.number("rope.scaling.factor", 0, 1, 1e6)
		s.BetaFast = m.number("rope.scaling.yarn_beta_fast", 32, 1e-3, 1e6)
		s.BetaSlow = m.number("rope.scaling.yarn_beta_slow", 1, 1e-3, 1e6)
		s.Magnitude = m.yarnMagnitude(s.Factor)
	case "dynamic":
		s.Factor = m.number("rope.scaling.factor", 0, 1, 1e6)
	default:
		m.fail(m.key("rope.scaling.type"), fmt.Sprintf("%.64q", kind), "none, linear, yarn, longrope and dynamic")
	}
	return s
}

// yarnMagnitude returns YaRN's factor of cosine and sine. It is 1 + 0.1·ln(factor), so that attention
// stays sharp in longer texts. The file may replace this number (yarn_attn_factor) or else divide it
// (yarn_log_multiplier), and may multiply the result (attn_factor).
func (m *metadata) yarnMagnitude(factor float64) float64 {
	magnitude := 1 + 0.1*math.Log(factor)
	if given, found := m.maybe("rope.scaling.yarn_attn_factor", 1e-3, 1e3); found {
		magnitude = given
	} else if share, found := m.maybe("rope.scaling.yarn_log_multiplier", 0, 1e3); found && share > 0 {
		magnitude /= 1 + 0.1*share*math.Log(factor)
	}
	return magnitude * m.number("rope.scaling.attn_factor", 1, 1e-3, 1e3)
}

// layerWindows says which layers of a model have a window, and its size.
type layerWindows struct {
	size   int     // size of the window in keys; 0: no layer has a window
	base   float64 // base of RoPE's frequencies in layers with a window
	layers []bool  // for each layer: whether it has a window; nil if size is 0
}

func (w layerWindows) has(layer int) bool { return w.size > 0 && w.layers[layer] }

// readWindows reads the size of the window, the base of RoPE in layers with it, and which layers these
// are. It returns no window if the family has none, or if no size is given. If the size is mostTokens or
// more, no text is longer than the window; then it returns no window, too.
func (m *metadata) readWindows(a windows, c *Config) (w layerWindows) {
	size, found, err := m.file.Uint(m.key("attention.sliding_window"))
	m.err = first(m.err, err)
	if !found {
		size = uint64(a.size)
	}
	if !a.some || size == 0 || size >= mostTokens {
		return w
	}
	w.size = int(size)
	w.base = m.number("rope.freq_base_swa", a.baseFor(c.RopeBase), 1, 1e12)
	w.layers = m.windowPattern(a.fullEvery, c.Layers)
	return w
}

func (a windows) baseFor(others float64) float64 {
	if a.base > 0 {
		return a.base
	}
	return others
}

// windowPattern says for each layer whether it has a window. The file gives a list, or a number n: every
// n-th layer has no window, and for n = 0 every layer has one. If the file gives neither, n is fullEvery.
func (m *metadata) windowPattern(fullEvery, layers int) []bool {
	const key = "attention.sliding_window_pattern"
	if list, found, err := m.file.Bools(m.key(key)); err == nil && found {
		if len(list) < layers {
			m.fail(m.key(key), fmt.Sprintf("a list of %d", len(list)), fmt.Sprintf("one value for each of %d layers", layers))
			return make([]bool, layers)
		}
		return list[:layers]
	}
	every, found, err := m.file.Uint(m.key(key))
	m.err = first(m.err, err)
	if found && err == nil {
		fullEvery = int(min(every, uint64(layers+1)))
	}
	list := make([]bool, layers)
	for i := range list {
		list[i] = fullEvery == 0 || (i+1)%fullEvery != 0
	}
	return list
}
