package gpu

import "specula/gpu/driver"

// The operations of a mixture of experts.

// route chooses experts for rows of scores.
type route struct {
	routing
	scores  driver.Pointer // (rows, Experts)
	bias    driver.Pointer // (Experts); 0: none
	arrived driver.Pointer // a counter of finished blocks, 0 between launches
}

func (o route) launch() launch {
	shape := warpEach(o.rows, 0)
	return launchOf("route_rows", shape, address(o.chosen), address(o.shares), address(o.counts), address(o.groups), address(o.arrived),
		address(o.scores), address(o.bias), whole(o.rows), whole(o.Experts), whole(o.Used), flag(o.Sigmoid), flag(o.Normed), real(o.Scale))
}

// choices says which rows a product multiplies with which experts. The dst of the product is (slots, rows of the weight).
type choices struct {
	counts, groups driver.Pointer // as in routing
	slots          int
	most           int // groups that the launch has room for
	used           int // slots for a row of activations: routing.Used, or 1 if each slot has a row of its own
}

// addExpertBias adds to each slot's row of x the bias of the slot's expert.
type addExpertBias struct {
	x, bias     driver.Pointer // (slots, cols) and (experts, cols)
	chosen      driver.Pointer // (slots) int32
	slots, cols int
}

func (o addExpertBias) launch() launch {
	return launchOf("add_expert_bias", strided(o.cols, o.slots), address(o.x), address(o.bias), address(o.chosen), whole(o.cols))
}

// scaleExperts multiplies each slot's row of x by the factor of the slot's expert.
type scaleExperts struct {
	x, factors  driver.Pointer // (slots, cols) and (experts)
	chosen      driver.Pointer // (slots) int32
	slots, cols int
}

func (o scaleExperts) launch() launch {
	return launchOf("scale_experts", strided(o.cols, o.slots), address(o.x), address(o.factors), address(o.chosen), whole(o.cols))
}

// mixSlots writes to each row of dst the sum of the rows of x that belong to its slots, each times the slot's share.
type mixSlots struct {
	dst, x, shares   driver.Pointer // (rows, cols), (rows·used, cols) and (rows, used)
	rows, cols, used int
}

func (o mixSlots) launch() launch {
	return launchOf("mix_slots", strided(o.cols, o.rows), address(o.dst), address(o.x), address(o.shares), whole(o.cols), whole(o.used))
}

// weighRows multiplies each row of x by the sigmoid of the number that gate has for the row.
type weighRows struct {
	x, gate    driver.Pointer // (rows, cols) and (rows)
	rows, cols int
}

func (o weighRows) launch() launch {
	return launchOf("weigh_rows", strided(o.cols, o.rows), address(o.x), address(o.gate), whole(o.cols))
}

func (o route) access() access         { return access{reads: [3]driver.Pointer{o.scores}} }
func (o addExpertBias) access() access { return access{reads: [3]driver.Pointer{o.x}} }
func (o scaleExperts) access() access  { return access{reads: [3]driver.Pointer{o.x}} }
func (o mixSlots) access() access {
	return access{reads: [3]driver.Pointer{o.x}, writes: o.dst, bytes: floatBytes * o.rows * o.cols}
}
func (o weighRows) access() access { return access{reads: [3]driver.Pointer{o.x, o.gate}} }
