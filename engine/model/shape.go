package model

import (
	"fmt"
	"math"
	"slices"

	"specula/engine/compute"
)

// layerShape has the sizes of one layer. In most models all layers have the same sizes. In a layer
// without attention, heads, kvHeads, keyDim, valueDim and ropeDim are 0.
type layerShape struct {
	heads, kvHeads   int
	keyDim, valueDim int                // how many numbers a head's key and value have
	ropeDim          int                // numbers of a key that are rotated
	ffn              int                // width of the dense feed-forward network; 0: there is none
	borrows          bool               // keys and values are those of another layer
	state            compute.CacheState // size of the state, in a layer that has one
	attentionScale   float64            // factor of q·k
}

func (s layerShape) queries() int  { return s.heads * s.keyDim }
func (s layerShape) keys() int     { return s.kvHeads * s.keyDim }
func (s layerShape) values() int   { return s.kvHeads * s.valueDim }
func (s layerShape) attended() int { return s.heads * s.valueDim }

// cacheNumbers returns how many numbers a cache has for one token of the layer: 0 if the layer attends to
// the keys and values of another layer.
func (s layerShape) cacheNumbers() float64 {
	if s.borrows {
		return 0
	}
	return float64(s.keys()) + float64(s.values())
}

// layout says for each layer whether it has a window (windows), its sizes (shapes), and to which layer's
// keys and values it attends (keysOf).
type layout struct {
	windows layerWindows
	shapes  []layerShape
	keysOf  []int
}

// readShapes returns the sizes of each layer: those that the file gives layer by layer, those for layers
// with a window, and otherwise those of the config.
func (m *metadata) readShapes(c *Config, w layerWindows) []layerShape {
	heads := m.counts("attention.head_count", c.Layers, c.Heads, mostHeads, nil)
	kvHeads := m.counts("attention.head_count_kv", c.Layers, c.KVHeads, mostHeads, func(i int) bool { return !c.mixersOf(i).attention })
	ffn := m.counts("feed_forward_length", c.Layers, c.FFN, mostWide, func(i int) bool { return !c.mixersOf(i).network })
	value := m.count("attention.value_length", c.HeadDim, maxValueDim)
	nearKey := m.count("attention.key_length_swa", c.HeadDim, maxKeyDim)
	nearValue := m.count("attention.value_length_swa", value, maxValueDim)
	nearRope := m.count("rope.dimension_count_swa", min(c.RopeDim, nearKey), nearKey)
	shapes := make([]layerShape, c.Layers)
	for i := range shapes {
		shapes[i] = layerShape{heads: heads[i], kvHeads: kvHeads[i], keyDim: c.HeadDim, valueDim: value, ropeDim: c.RopeDim, ffn: ffn[i]}
		if !c.parts(i)["dense"] {
			shapes[i].ffn = 0
		}
		shapes[i].borrows = c.borrows(i)
		if w.has(i) {
			shapes[i].keyDim, shapes[i].valueDim, shapes[i].ropeDim = nearKey, nearValue, nearRope
		}
		if has := c.mixersOf(i); !has.attention {
			shapes[i] = layerShape{ffn: shapes[i].ffn}
		}
		if c.mixersOf(i).state {
			shapes[i].state = c.State
		}
	}
	return shapes
}

// scaleAttention sets the factor of q·k of each layer: the config's or, if the config has none,
// 1/√keyDim.
func scaleAttention(shapes []layerShape, c *Config) {
	for i := range shapes {
		if shapes[i].attentionScale = c.AttentionScale; c.AttentionScale == 0 && shapes[i].keyDim > 0 {
			shapes[i].attentionScale = 1 / math.Sqrt(float64(shapes[i].keyDim))
		}
	}
	c.AttentionScale = firstAttention(shapes).attentionScale
}

// firstAttention returns the first layer with attention. If there is none, readStates has recorded an error,
// and firstAttention returns layer 0.
func firstAttention(shapes []layerShape) layerShape {
	return shapes[max(0, slices.IndexFunc(shapes, func(s layerShape) bool { return s.heads > 0 }))]
}

// countFirst reads an integer that the file may give as a list over the layers. Of a list it returns the
// first number that is not 0. If all are 0, it records an error about the first.
func (m *metadata) countFirst(name string, fallback, most int) int {
	if list, _, err := m.file.Ints(m.key(name)); list != nil && err == nil {
		at := max(0, slices.IndexFunc(list, func(n int64) bool { return n != 0 }))
		return m.counts(name, at+1, 0, most, func(i int) bool { return i < at })[at]
	}
	return m.count(name, fallback, most)
}

// counts returns an integer for each layer: those of a list in the file, or the parameter usual for all
// layers if the file has no list. Layer i may have 0 only if none(i) is true.
func (m *metadata) counts(name string, layers, usual, most int, none func(layer int) bool) []int {
	list, _, err := m.file.Ints(m.key(name))
	if list == nil || err != nil {
		return slices.Repeat([]int{usual}, layers)
	}
	counts := slices.Repeat([]int{1}, layers)
	if len(list) < layers {
		m.fail(m.key(name), fmt.Sprintf("a list of %d", len(list)), fmt.Sprintf("one integer for each of %d layers", layers))
		return counts
	}
	for i, n := range list[:layers] {
		if n == 0 && none != nil && none(i) {
			counts[i] = 0
			continue
		}
		if n < 1 || n > int64(most) {
			m.fail(m.key(name), fmt.Sprintf("%d in layer %d", n, i), fmt.Sprintf("1 to %d", most))
			return counts
		}
		counts[i] = int(n)
	}
	return counts
}

// shapeLayers sets the sizes and windows of the layers. Layers of the same size share buffers.
func (m *Model) shapeLayers(a layout) {
	shared := map[layerShape]*layerBuffers{}
	for i, s := range a.shapes {
		if shared[s] == nil {
			shared[s] = &layerBuffers{}
		}
		l := &m.layers[i]
		l.shape, l.buffers, l.keysOf, l.number = s, shared[s], a.keysOf[i], i
		if a.windows.has(i) {
			l.window = a.windows.size
		}
	}
}

// checkShapes refuses layers that the forward pass would compute wrongly.
func (m *metadata) checkShapes(shapes []layerShape) {
	for i, s := range shapes {
		if s.heads == 0 {
			continue
		}
		if s.heads%s.kvHeads != 0 {
			m.fail(m.key("attention.head_count_kv"), fmt.Sprintf("%d in layer %d", s.kvHeads, i), fmt.Sprintf("a divisor of the %d query heads", s.heads))
		}
		if s.ropeDim%2 != 0 {
			m.fail(m.key("rope.dimension_count"), s.ropeDim, "an even number")
		}
	}
}

// checkpoints is how many lengths a cache with rings or states can be cut back to, besides its last
// rows. Two are enough: the last prompt, so that its reply can be written again, and the prompt before it.
const checkpoints = 2

// cacheShape is the size of a cache for this many tokens. If all layers attend to the keys and values of
// another model, it is the size of these keys and values.
func (m *Model) cacheShape(tokens int) compute.CacheShape {
	first := &m.layers[0].shape
	shape := compute.CacheShape{
		Layers: len(m.layers), Tokens: tokens, KVHeads: first.kvHeads, HeadDim: first.keyDim, Type: m.config.CacheType,
		Sinks: m.arch.needs()["sinks"] == required,
	}
	if slices.ContainsFunc(m.layers, func(l layer) bool { return l.window > 0 }) {
		for i := range m.layers {
			window := m.layers[i].window
			if m.layers[i].shape.borrows {
				window = 0
			}
			shape.Windows = append(shape.Windows, window)
		}
	}
	if shape.Windows != nil || m.config.State.Heads > 0 {
		shape.Spare, shape.Single, shape.Checkpoints = m.config.PrefillRows, m.config.MaxRows, checkpoints
	}
	alike := true
	each := make([]compute.CacheLayer, len(m.layers))
	for i := range m.layers {
		s := &m.layers[i].shape
		shape.Heads = max(shape.Heads, s.heads)
		each[i] = compute.CacheLayer{KVHeads: s.kvHeads, KeyDim: s.keyDim, ValueDim: s.valueDim, State: s.state}
		if s.borrows && !m.arch.borrowsAll {
			each[i] = compute.CacheLayer{}
		}
		alike = alike && each[i] == compute.CacheLayer{KVHeads: first.kvHeads, KeyDim: first.keyDim, ValueDim: first.keyDim}
	}
	if !alike {
		shape.Each = each
	}
	return shape
}

// CacheLayer returns the size of a layer's keys and values in a cache.
func (m *Model) CacheLayer(i int) compute.CacheLayer { return m.cacheShape(1).Layer(i) }
