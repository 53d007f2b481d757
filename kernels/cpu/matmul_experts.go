package cpu

// ExpertRows are the inputs of experts: the rows of a Routing in the order of its slots, quantised
// or in float32. It is a task whose items are the slots. Run it after the Routing, as a task, has
// grouped the choices.
type ExpertRows struct {
	routing   *Routing
	x         []float32
	cols      int
	bySlot    bool // x has a row for each slot; otherwise, for each row of the pass
	quantises bool
	memory    *ExpertMemory
}

// ExpertMemory holds ExpertRows until the next product overwrites them.
type ExpertMemory struct {
	Quantised *Quantized // other operations may use it between products
	floats    []float32  // (slots, cols)
}

// NewExpertRows describes the inputs of a product, quantised or not, and makes room for them. x is (m, cols)
// or, if bySlot, (slots, cols).
func (mem *ExpertMemory) NewExpertRows(r *Routing, x []float32, cols int, bySlot, quantises bool) ExpertRows {
	rows := ExpertRows{r, x, cols, bySlot, quantises, mem}
	switch n := r.Slots(); {
	case quantises:
		q := mem.Quantised
		q.Grow(n, cols)
		if level == Portable && cap(q.words) < n*cols { // the rows of two groups do not share a word
			q.words = make([]int64, n*cols)
		}
	case !rows.asTheyAre() && len(mem.floats) < n*cols:
		mem.floats = make([]float32, n*cols)
	}
	return rows
}

// asTheyAre reports whether the inputs are used without a copy: they are float32, and lie in the
// order of slots or are a single row.
func (t *ExpertRows) asTheyAre() bool { return !t.quantises && (t.bySlot || t.routing.m == 1) }

// one reports whether all slots have the same input.
func (t *ExpertRows) one() bool { return !t.bySlot && t.routing.m == 1 }

// Of reports whether t has the inputs made from x in the wanted form, so that another product can reuse them.
func (t *ExpertRows) Of(x []float32, quantises bool) bool {
	return &t.x[0] == &x[0] && t.quantises == quantises
}

// Items returns the number of slots that have to be written.
func (t *ExpertRows) Items() int {
	switch {
	case t.asTheyAre():
		return 0
	case t.one():
		return 1
	}
	return t.routing.Slots()
}

// Work estimates the time, in multiplications.
func (t *ExpertRows) Work() int { return 4 * t.Items() * t.cols }

// Do writes the slots from … to−1.
func (t *ExpertRows) Do(from, to int) {
	r := t.routing
	for slot, g := from, 0; slot < to; slot++ {
		for !t.one() && slot >= int(r.groups[g].first+r.groups[g].count) {
			g++
		}
		row := slot
		if !t.bySlot {
			row = int(r.rows[slot])
		}
		x := t.x[row*t.cols:][:t.cols]
		if !t.quantises {
			copy(t.memory.floats[slot*t.cols:], x)
			continue
		}
		q, at := t.quantised(g), 0
		if !t.one() {
			at = slot - int(r.groups[g].first)
		}
		quantizeRow(q.records[at*recordBytes:], x, q.m*recordBytes)
	}
}

// quantised returns the inputs of a group.
func (t *ExpertRows) quantised(g int) Quantized {
	all := t.memory.Quantised
	q := Quantized{m: 1, cols: t.cols}
	first := 0
	if !t.one() {
		q.m, first = int(t.routing.groups[g].count), int(t.routing.groups[g].first)
	}
	// An AMX tile reads 16 records, and so records of the next group. Their results are dropped.
	q.records = all.records[:cap(all.records)][first*t.cols/Block*recordBytes:]
	if level == Portable {
		q.words = all.words[:cap(all.words)][first*t.cols:][:(q.m+wordRows-1)/wordRows*t.cols]
	}
	return q
}

// floats returns the inputs of a group, (count, cols).
func (t *ExpertRows) floats(g int) []float32 {
	x, first := t.x, int(t.routing.groups[g].first)
	switch {
	case t.one():
		return x
	case !t.bySlot:
		x = t.memory.floats
	}
	return x[first*t.cols:][:int(t.routing.groups[g].count)*t.cols]
}

// ExpertPacking is the task that packs quantised ExpertRows on the portable level, whose kernels read packed
// rows (see Quantized.Pack).
type ExpertPacking ExpertRows

// Packs returns the number of items of ExpertPacking; 0 on other levels than the portable one.
func (t *ExpertRows) Packs() int {
	if level != Portable || !t.quantises {
		return 0
	}
	return t.routing.mostGroups()
}

// Do packs the inputs of groups.
func (p *ExpertPacking) Do(from, to int) {
	t := (*ExpertRows)(p)
	for g := from; g < min(to, len(t.routing.groups)); g++ {
		if g == 0 || !t.one() {
			q := t.quantised(g)
			q.Pack().Do(0, q.Packs())
		}
	}
}

// Expert is the matrix of one expert: Panels if it is quantised, else Data.
type Expert struct {
	Panels *Panels
	Type   Number
	Data   []byte // (Rows, Cols) numbers
}

// MatMulExperts computes, for each slot of a Routing, the product of its row with the matrix of its
// expert: dst (slots, rows), with the bits of ref.MatMulExperts. It is no task of its own: ExpertProducts
// runs one or two of them on the same input.
type MatMulExperts struct {
	Dst        []float32 // (slots, Rows)
	Experts    []Expert  // all quantised, or none
	Rows, Cols int       // of each matrix
	Prefetching
	WidenFirst bool  // see MatMulFloat
	Room       *Room // for panels with inputs that are not quantised
}

// items returns how many items the product with one expert has.
func (t *MatMulExperts) items() int {
	if t.Experts[0].Panels != nil {
		return (t.Rows + panelRows - 1) / panelRows
	}
	return (t.Rows + floatRows - 1) / floatRows
}

// do computes items of the product of a group with its expert.
func (t *MatMulExperts) do(x *ExpertRows, g, from, to int) {
	r := &x.routing.groups[g]
	e, m := &t.Experts[r.expert], int(r.count)
	dst := t.Dst[int(r.first)*t.Rows:][:m*t.Rows]
	switch {
	case e.Panels == nil:
		p := MatMulFloat{Dst: dst, X: x.floats(g), M: m, Type: e.Type, W: e.Data, Rows: t.Rows,
			Cols: t.Cols, WidenFirst: t.WidenFirst}
		p.Do(from, to)
	case x.quantises:
		q := x.quantised(g)
		p := MatMulQuantized{Dst: dst, X: &q, W: e.Panels, Prefetching: t.Prefetching}
		p.Do(from, to)
	default:
		p := MatMulDequantized{Dst: dst, X: x.floats(g), M: m, W: e.Panels, Room: t.Room}
		p.Do(from, to)
	}
}

// ExpertProducts is a task that multiplies one input with up to two matrices of each expert, gate and
// up. The number of an expert's rows is known only when the task runs. So its items are portions of
// equal cost, and a portion may begin in the middle of an expert's matrix.
type ExpertProducts struct {
	X        ExpertRows
	products [2]MatMulExperts // the first n are used; Add adds one
	n        int
}

// readCost is what reading an expert's weights costs, in rows that are multiplied with them.
const readCost = 4

// Items returns the number of portions, which are the items of this task.
func (t *ExpertProducts) Items() int { return t.X.routing.mostGroups() * t.itemsEach() }

// itemsEach returns the number of items that the products (MatMulExperts) together have for one expert.
func (t *ExpertProducts) itemsEach() (n int) {
	for i := range t.products[:t.n] {
		n += t.products[i].items()
	}
	return n
}

// Full reports whether there is no room for another product.
func (t *ExpertProducts) Full() bool { return t.n == len(t.products) }

// Add adds a product, and returns an estimate of its time, in multiplications.
func (t *ExpertProducts) Add(p MatMulExperts) (work int) {
	t.products[t.n] = p
	t.n++
	work = t.X.routing.Slots() * p.Rows * p.Cols
	if p.Experts[0].Panels != nil && !t.X.quantises {
		work *= decodeWork
	}
	return work
}

// Do computes the portions from … to−1.
func (t *ExpertProducts) Do(from, to int) {
	groups, each, all := t.X.routing.groups, t.itemsEach(), t.Items()
	total := (t.X.routing.Slots() + readCost*len(groups)) * each
	low, high := from*total/all, to*total/all
	start := 0
	for g := range groups {
		cost := int(groups[g].count) + readCost
		// Think of a line on which the products' items lie one after the other, each as long as its cost.
		// The portions divide the line evenly. A product's item belongs to the portion in which it begins.
		first, last := (low-start+cost-1)/cost, (high-start+cost-1)/cost
		if first, last = max(first, 0), min(last, each); first < last {
			t.group(g, first, last)
		}
		if start += cost * each; start >= high {
			return
		}
	}
}

// group computes the items from … to−1 of one expert. The items of the second product follow the items of
// the first.
func (t *ExpertProducts) group(g, from, to int) {
	for i := range t.products[:t.n] {
		p := &t.products[i]
		n := p.items()
		if a, b := max(from, 0), min(to, n); a < b {
			p.do(&t.X, g, a, b)
		}
		from, to = from-n, to-n
	}
}
