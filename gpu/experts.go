package gpu

import (
	"encoding/binary"
	"fmt"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

var (
	_ compute.Mixer        = (*Backend)(nil)
	_ compute.ExpertScaler = (*Backend)(nil)
)

// routing has the experts that the rows of a pass chose, in device memory. A row's choice of rank r
// has slot row·Used + r. A group is up to 8 slots of one expert.
type routing struct {
	compute.Router
	owner  *Backend
	chosen driver.Pointer // (rows, Used) int32, the best first
	shares driver.Pointer // (rows, Used) float32
	counts driver.Pointer // int32: the number of groups; how many experts were touched so far
	groups driver.Pointer // see kernels/cuda/src/chosen.h
	most   int            // rows that there is room for
	rows   int            // of the last Route

	calls   int    // of Route
	seen    uint32 // touched experts, as the host read them from counts last
	touched int    // all touched experts so far, which does not overflow as the device's number does
}

// slots is the number of choices of all rows.
func (r *routing) slots() int { return r.rows * r.Used }

// mostGroups is the number of groups that a launch has room for. It does not depend on the choices, so
// that passes of the same rows have the same launches.
func (r *routing) mostGroups() int { return cuda.MostGroups(r.slots(), r.Experts) }

// Routing makes room for the choices of maxRows rows.
func (b *Backend) Routing(maxRows int, r compute.Router) (compute.Routing, error) {
	if most := min(compute.MostUsed, r.Experts); r.Used < 1 || r.Used > most || r.Experts > cuda.MostExperts {
		return nil, fmt.Errorf("choosing %d of %d experts: allowed are 1 to %d of at most %d", r.Used, r.Experts, most, cuda.MostExperts)
	}
	of := &routing{Router: r, owner: b, most: maxRows}
	slots := maxRows * r.Used
	memory, err := b.alloc("choices of experts", b.RoutingBytes(maxRows, r))
	if err != nil {
		return nil, err
	}
	of.counts = memory
	of.chosen = memory + countBytes
	of.shares = of.chosen + driver.Pointer(4*slots)
	of.groups = of.shares + driver.Pointer(4*slots)
	return of, b.note(b.device.Do(func() error { return b.device.Fill(b.stream, of.counts, 0, countBytes) }))
}

// countBytes is the size of routing.counts.
const countBytes = 8

// RoutingBytes is the device memory that Routing reserves.
func (b *Backend) RoutingBytes(maxRows int, r compute.Router) int64 {
	slots := maxRows * r.Used
	return int64(countBytes + 8*slots + cuda.GroupBytes*cuda.MostGroups(slots, r.Experts))
}

// Choices copies the experts of a row, the best first.
func (r *routing) Choices(row int, experts []int32) error {
	require(row >= 0 && row < r.rows && len(experts) == r.Used, "Choices of a row that was not routed")
	b := r.owner
	return b.onDevice(func() error {
		return b.fetch(4*r.Used, r.chosen+driver.Pointer(4*row*r.Used), func(memory []byte) { toIDs(experts, memory) })
	})
}

// Touched waits for the device. If the device fails, Touched returns the number of touched experts
// that was read last, and the next wait returns the failure.
func (r *routing) Touched() compute.Touched {
	b := r.owner
	err := b.onDevice(func() error {
		return b.fetch(countBytes, r.counts, func(memory []byte) {
			now := binary.LittleEndian.Uint32(memory[4:])
			r.touched += int(now - r.seen) // the device's number may have passed 2³²
			r.seen = now
		})
	})
	if err != nil {
		b.device.Submit(func() { b.failed = first(b.failed, err) })
	}
	return compute.Touched{Experts: r.touched, Calls: r.calls}
}

// Route chooses experts for the rows of scores.
func (b *Backend) Route(r compute.Routing, scores compute.Buffer, m int, bias compute.Vector) error {
	of, xb := r.(*routing), rowsOf(scores, 0, m)
	require(m <= of.most && xb.cols == of.Experts && (bias == nil || bias.Len() == of.Experts), "Route of other sizes")
	of.rows = m
	of.calls++
	o := route{routing: *of, scores: xb.memory, arrived: b.arrived}
	if bias != nil {
		o.bias = bias.(*vector).memory
	}
	b.tape.append(o)
	return nil
}

// MatMulExperts multiplies the input of each slot with the matrix of its expert. The inputs are rows of x: with
// bySlot each slot has its own, else all slots of a row have one.
func (b *Backend) MatMulExperts(dst, x compute.Buffer, r compute.Routing, w compute.Matrix, bySlot bool) error {
	of, weight := r.(*routing), w.(*matrix)
	rows, used := of.rows, of.Used
	if bySlot {
		rows, used = of.slots(), 1
	}
	xb, d := rowsOf(x, 0, rows), rowsOf(dst, 0, of.slots())
	require(xb.cols == weight.cols && d.cols == weight.rows && weight.experts == of.Experts, "MatMulExperts of widths that do not fit")
	b.convert(xb, rows, weight.format)
	b.changed(d)
	b.tape.append(product{d.memory, b.scratch.rounded.memory, rows, weight, choices{of.counts, of.groups, of.slots(), of.mostGroups(), used}})
	return nil
}

// AddExpertBias adds to each slot's row of x the bias of the slot's expert.
func (b *Backend) AddExpertBias(x compute.Buffer, r compute.Routing, bias compute.Vector) error {
	of, v := r.(*routing), bias.(*vector)
	xb := rowsOf(x, 0, of.slots())
	require(v.length == of.Experts*xb.cols, "AddExpertBias of another width")
	b.changed(xb)
	b.tape.append(addExpertBias{xb.memory, v.memory, of.chosen, of.slots(), xb.cols})
	return nil
}

// ScaleExperts multiplies each slot's row of x by the factor of the slot's expert.
func (b *Backend) ScaleExperts(x compute.Buffer, r compute.Routing, factors compute.Vector) error {
	of, v := r.(*routing), factors.(*vector)
	xb := rowsOf(x, 0, of.slots())
	require(v.length == of.Experts, "ScaleExperts by another number of factors")
	b.changed(xb)
	b.tape.append(scaleExperts{xb.memory, v.memory, of.chosen, of.slots(), xb.cols})
	return nil
}

// Mix writes to each row of dst the sum of the rows of x that belong to its slots, each times the slot's share.
func (b *Backend) Mix(dst, x compute.Buffer, r compute.Routing) error {
	of := r.(*routing)
	xb, d := rowsOf(x, 0, of.slots()), rowsOf(dst, 0, of.rows)
	require(xb.cols == d.cols, "Mix of different widths")
	b.changed(d)
	b.tape.append(mixSlots{d.memory, xb.memory, of.shares, of.rows, d.cols, of.Used})
	return nil
}

// Weigh multiplies each row of x by the sigmoid of the number that gate has for the row.
func (b *Backend) Weigh(x compute.Buffer, m int, gate compute.Buffer) error {
	xb, g := rowsOf(x, 0, m), rowsOf(gate, 0, m)
	require(g.cols == 1, "Weigh by more than one column")
	b.changed(xb)
	b.tape.append(weighRows{xb.memory, g.memory, m, xb.cols})
	return nil
}
