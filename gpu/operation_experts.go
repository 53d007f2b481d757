package gpu

import (
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// The operations of a mixture of experts.

// route chooses experts for rows of scores.
type route struct {
	routing
	scores  driver.Pointer // (rows, Experts)
	bias    driver.Pointer // (Experts); 0: none
	arrived driver.Pointer // a counter of finished blocks, 0
}

func (o route) launch() launch {
	shape := warpEach(o.rows, 0)
	return launchOf("route_rows", shape, address(o.chosen), address(o.shares), address(o.counts), address(o.groups), address(o.arrived),
		address(o.scores), address(o.bias), whole(o.rows), whole(o.Experts), whole(o.Used), flag(o.Sigmoid), flag(o.Normed), real(o.Scale))
}

// choices says which rows a product multiplies with which experts.
type choices struct {
	counts, groups driver.Pointer // as in routing
	slots          int
	most           int // groups
	used           int // slots of a row of activations
}

// expertProduct multiplies rows with the matrices of the experts that they chose. Its dst is (slots, rows of
// the weight).
type expertProduct struct {
	product
	choices
}

func (o expertProduct) launch() launch { return expertProducts{o}.launch() }

// expertProducts is one launch that multiplies the same activations with several weights of one format, at
// most cuda.MostJoined.
type expertProducts []expertProduct

func (o expertProducts) launch() launch {
	var list products
	for _, p := range o {
		list = append(list, p.product)
	}
	factors, arguments := list.matrices()
	c, w := o[0].choices, o[0].weight
	l := w.format.ExpertProduct(c.most, factors...)
	return launchOf(l.Kernel, shapeOf(l), append(arguments, address(c.counts), address(c.groups), whole(c.used))...)
}

// addExpertBias adds to each slot the bias of its expert.
type addExpertBias struct {
	x, bias     driver.Pointer // (slots, cols) and (experts, cols)
	chosen      driver.Pointer // (slots) int32
	slots, cols int
}

func (o addExpertBias) launch() launch {
	return launchOf("add_expert_bias", strided(o.cols, o.slots), address(o.x), address(o.bias), address(o.chosen), whole(o.cols))
}

// mixSlots adds the slots of each row, times their shares.
type mixSlots struct {
	dst, x, shares   driver.Pointer // (rows, cols), (rows·used, cols) and (rows, used)
	rows, cols, used int
}

func (o mixSlots) launch() launch {
	return launchOf("mix_slots", strided(o.cols, o.rows), address(o.dst), address(o.x), address(o.shares), whole(o.cols), whole(o.used))
}

// weighRows multiplies each row by the sigmoid of its gate.
type weighRows struct {
	x, gate    driver.Pointer // (rows, cols) and (rows)
	rows, cols int
}

func (o weighRows) launch() launch {
	return launchOf("weigh_rows", strided(o.cols, o.rows), address(o.x), address(o.gate), whole(o.cols))
}

func (o route) access() access { return access{reads: [3]driver.Pointer{o.scores}} }
func (o expertProduct) access() access {
	return access{reads: [3]driver.Pointer{o.activations}, writes: o.dst, bytes: floatBytes * o.slots * o.weight.rows}
}
func (o addExpertBias) access() access { return access{reads: [3]driver.Pointer{o.x}} }
func (o mixSlots) access() access {
	return access{reads: [3]driver.Pointer{o.x}, writes: o.dst, bytes: floatBytes * o.rows * o.cols}
}
func (o weighRows) access() access { return access{reads: [3]driver.Pointer{o.x, o.gate}} }

// joins reports whether one launch can compute o and the others.
func (o expertProduct) joins(others ...expertProduct) bool {
	for _, other := range others {
		if o.choices != other.choices || !o.product.joins(other.product) {
			return false
		}
	}
	return true
}

// joinExpertProducts joins neighbouring products of the same chosen rows. It works in place and returns the
// operations that remain.
func joinExpertProducts(operations []operation) []operation {
	joined := operations[:0]
	for _, o := range operations {
		p, ok := o.(expertProduct)
		if !ok {
			joined = append(joined, o)
			continue
		}
		if last := len(joined) - 1; last >= 0 {
			if before, ok := joined[last].(expertProducts); ok && len(before) < cuda.MostJoined && p.joins(before...) {
				joined[last] = append(before, p)
				continue
			}
		}
		joined = append(joined, expertProducts{p})
	}
	return joined
}

// reading returns the products with their activations at place, if they had them at usual.
func (o expertProducts) reading(usual, place driver.Pointer) expertProducts {
	if place == usual {
		return o
	}
	moved := append(expertProducts(nil), o...)
	for i := range moved {
		if moved[i].activations == usual {
			moved[i].activations = place
		}
	}
	return moved
}
