package model

import (
	"fmt"
	"math"
	"slices"

	"specula/engine/compute"
	"specula/engine/weights"
)

// borrows reports whether layer i has no keys and values of its own and attends to those of another layer.
func (c *Config) borrows(i int) bool { return i >= c.Layers-c.SharedKeys }

// lenders returns for each layer the layer that has the keys and values for its attention. For a layer that
// does not borrow, that is the layer itself. For one that borrows, it is the last layer of the same kind
// (with or without a window) that does not borrow. lenders adds each layer that another layer borrows from
// to Config.Lenders.
func (m *metadata) lenders(c *Config, shapes []layerShape, w layerWindows) []int {
	of, last := make([]int, len(shapes)), map[bool]int{}
	for i, s := range shapes {
		of[i] = i
		if !s.borrows {
			last[w.has(i)] = i
			continue
		}
		from, found := last[w.has(i)]
		if found && (shapes[from].keyDim != s.keyDim || shapes[from].valueDim != s.valueDim || shapes[from].kvHeads != s.kvHeads) {
			m.fail(m.key("attention.shared_kv_layers"), fmt.Sprintf("%d, and layer %d would read the keys and values of layer %d, which have another shape",
				c.SharedKeys, i, from), "a number with which the shapes are equal")
		}
		if !found {
			m.fail(m.key("attention.shared_kv_layers"), fmt.Sprintf("%d, and no layer before layer %d has keys and values of its kind", c.SharedKeys, i),
				"a number that leaves a layer with a window and one without")
		}
		if of[i] = from; !slices.Contains(c.Lenders, from) {
			c.Lenders = append(c.Lenders, from)
		}
	}
	return of
}

// projectKeys computes keys and values, unless the layer borrows them. Without a matrix for values,
// the keys serve as values, before they are normalised and rotated.
func (p *pass) projectKeys(l *layer, x compute.Buffer) {
	b := l.buffers
	if l.shape.borrows {
		return
	}
	p.project(b.key, x, l.Key, l.KeyBias)
	values := b.key
	if l.Value != nil {
		p.project(b.value, x, l.Value, l.ValueBias)
		values = b.value
	}
	if l.valueNorm != nil {
		p.norm(b.value, values, l.valueNorm, nil)
	}
}

// placeValueNorms makes the weights of the norms of values: all 1, because files have no such weights.
func (m *Model) placeValueNorms() error {
	made := map[int]compute.Vector{}
	for i := range m.layers {
		l := &m.layers[i]
		dim := l.shape.valueDim
		if !m.arch.normValues || l.shape.borrows {
			continue
		}
		if made[dim] == nil {
			var err error
			if made[dim], err = m.backend.Vector(fmt.Sprintf("%d ones", dim), slices.Repeat([]float32{1}, dim)); err != nil {
				return err
			}
		}
		l.valueNorm = made[dim]
	}
	return nil
}

// checkOutputScales returns an error if a layer's OutputScale is 0 or not finite.
func (m *Model) checkOutputScales(file *weights.File) error {
	for i := range m.layers {
		if s := m.layers[i].OutputScale; s != nil && (s[0] == 0 || math.IsNaN(float64(s[0])) || math.IsInf(float64(s[0]), 0)) {
			return fmt.Errorf("the tensor %s is %v; allowed are finite numbers other than 0", file.Called(fmt.Sprintf("blk.%d.layer_output_scale.weight", i)), s[0])
		}
	}
	return nil
}

// scaleOutput multiplies the residual stream by a layer's OutputScale, if the layer has one.
func (p *pass) scaleOutput(l *layer) {
	if l.OutputScale != nil {
		p.scale(p.model.activations.residual, float64(l.OutputScale[0]))
	}
}
