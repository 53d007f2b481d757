package model

import (
	"fmt"
	"math"
	"slices"
)

// Without returns a view of the model that skips the given layers, counted from 0. The view is a
// cheaper and worse model with the same vocabulary, and can draft for the whole model. (Zhang et
// al., "Draft & Verify: lossless large language model acceleration via self-speculative decoding",
// 2023)
//
// The view shares weights, backend and activations with the model. It needs memory only for one row of
// logits, and for its caches, which have only the remaining layers. View and model must not run at the
// same time, but the logits of one stay valid while the other runs. Forward of the view takes one
// token; Prefill takes any number.
func (m *Model) Without(layers []int) (*Model, error) {
	for _, i := range layers {
		if i < 0 || i >= len(m.layers) {
			return nil, fmt.Errorf("leaving out layer %d: the model has the layers 0 to %d", i, len(m.layers)-1)
		}
	}
	view := *m
	view.pass, view.ids, view.layers = pass{}, nil, nil
	c := &view.config
	place := map[int]int{} // the index in the view, by the index in m
	for i, l := range m.layers {
		if slices.Contains(layers, i) {
			continue
		}
		place[i] = len(view.layers)
		from, stays := place[l.keysOf]
		if !stays {
			return nil, fmt.Errorf("leaving out layer %d: layer %d attends to its keys and values", l.keysOf, i)
		}
		l.keysOf = from
		view.layers = append(view.layers, l)
	}
	if len(view.layers) == 0 {
		return nil, fmt.Errorf("leaving out all %d layers: at least one must stay", len(m.layers))
	}
	c.CacheBytes = int64(view.cacheBytes(c.MaxTokens))
	c.Parameters = c.ParametersWithout(c.Layers - len(view.layers))
	c.Layers, c.MaxRows = len(view.layers), 1
	var err error
	view.activations.scores, err = m.backend.Buffer(1, c.Vocab)
	if err != nil {
		return nil, fmt.Errorf("allocating scores of %d numbers: %w", c.Vocab, err)
	}
	return &view, nil
}

// ParametersWithout estimates how many parameters remain without this many layers. Of a layer it counts only
// the matrices, because norms and biases are tiny. If some layers have a state, it takes the mean of all layers.
func (c Config) ParametersWithout(layers int) int64 {
	if c.State.Heads > 0 { // the layers differ in size, so count their mean
		tables := int64(2)
		if c.TiedOutput {
			tables = 1
		}
		return c.Parameters - int64(layers)*(c.Parameters-tables*int64(c.Vocab)*int64(c.Dim))/int64(c.Layers)
	}
	queries, keys := int64(c.Heads*c.HeadDim), int64(c.KVHeads*c.HeadDim)
	width := int64(c.FFN) // width of all feed-forward networks of a layer together
	if n := int64(c.Experts.Experts); n > 0 {
		mixed := n*int64(c.ExpertFFN) + int64(c.SharedFFN)
		if c.Beside {
			mixed += width
		}
		width = mixed
	}
	return c.Parameters - int64(layers)*int64(c.Dim)*(2*queries+2*keys+c.FeedForwardMatrices*width)
}

// ReadBy estimates how many parameters a pass over rows of a text reads. A mixture does not read all:
// the estimate assumes that each row chooses its experts evenly and independently of the other rows.
// Rows of a real text choose more alike, so they read less.
func (c Config) ReadBy(rows int) int64 {
	n, all := float64(c.Experts.Experts), c.Parameters-c.LookedUp
	if n == 0 {
		return all
	}
	unread := n * math.Pow(1-float64(c.Experts.Used)/n, float64(rows))
	each := float64(c.FeedForwardMatrices) * float64(c.ExpertDim) * float64(c.ExpertFFN)
	mixed := 0
	for i := range c.Layers {
		if c.parts(i)["experts"] {
			mixed++
		}
	}
	return all - int64(float64(mixed)*unread*each)
}

// MiddleLayers returns the default choice of layers to skip: every second layer of the middle half. The
// layers at both ends stay, because no other layer can replace them. So do layers to whose keys and
// values other layers attend.
func (c Config) MiddleLayers() []int {
	var out []int
	for i := c.Layers/4 + 1; i < c.Layers-c.Layers/4; i += 2 {
		if !slices.Contains(c.Lenders, i) {
			out = append(out, i)
		}
	}
	return out
}
