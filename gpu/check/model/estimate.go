package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"specula/kernels/cuda"
	"specula/kernels/format"
)

// launch is a line of passes.txt: equal launches of a pass.
type launch struct {
	count           int
	kernel          string
	also            []string // joined work, see stepsAlso
	blocks, threads int
	bytes           float64 // bytes of weights, keys and values that all blocks of one launch read together

	// Set by estimate: bytes of weights that attention lets idle multiprocessors fetch to the second-level cache, and
	// those that a product finds there.
	fetches, fetched float64
}

// pass is what one pass launches.
type pass struct {
	model, format string
	rows          int
	launches      []launch
}

// readPasses reads passes.txt.
func readPasses(text string) (all []pass, err error) {
	for number, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
			continue
		case words[0] == "pass" && len(words) == 4:
			rows, err := strconv.Atoi(words[3])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number+1, err)
			}
			all = append(all, pass{model: words[1], format: words[2], rows: rows})
			continue
		}
		l := launch{}
		if _, err := fmt.Sscan(line, &l.count, &l.kernel, &l.blocks, &l.threads, &l.bytes); err != nil || len(all) == 0 {
			return nil, fmt.Errorf("line %d: %q is no launch of a pass: %v", number+1, line, err)
		}
		names := strings.Split(l.kernel, "+")
		l.kernel, l.also = names[0], names[1:]
		if slices.ContainsFunc(l.also, func(work string) bool { _, known := stepsAlso[work]; return !known }) {
			return nil, fmt.Errorf("line %d: %q joins work whose steps are not known", number+1, line)
		}
		last := &all[len(all)-1]
		last.launches = append(last.launches, l)
	}
	return all, nil
}

// layout is what the estimate needs to know of a weight format.
type layout struct {
	slab   float64 // bytes of a slab of weights: 16 rows, and the format's columns
	tiles  float64 // mma instructions for a slab and 8 rows of activations
	int8   bool    // products of bytes; else of half precision
	groups int     // groups of 8 rows that a block of the kernel for many rows takes
	ops    float64 // operations of one mma instruction
}

// layoutOf describes the format with this name.
func layoutOf(name string) layout {
	for _, f := range cuda.Packed() {
		if f.Name != name {
			continue
		}
		l := layout{slab: float64(f.Bytes(1, 1)), int8: f.Source().Quants != nil, groups: 16}
		columns, each := 16, 1 // columns that an instruction multiplies, and how many instructions multiply them
		if l.int8 {
			l.groups = 8
			switch {
			case f.Source().Factors == format.Nibbles:
				columns, each = 32, 2 // weights and minima
			case !f.Source().Halves():
				columns = 32
			}
		}
		l.tiles, l.ops = float64(f.Columns/columns*each), float64(2*16*8*columns)
		return l
	}
	return layout{}
}

// withOtherTypes adds passes for the quantised types of weights that were not recorded. It copies the passes of
// Q8_0 or Q4_K, whichever has slabs of as many columns, and changes the kernels and the bytes.
func withOtherTypes(passes []pass) []pass {
	all := slices.Clone(passes)
	for _, f := range cuda.Packed() {
		like := cuda.Q8_0
		if f.Columns == cuda.Q4_K.Columns {
			like = cuda.Q4_K
		}
		recorded := func(p pass) bool { return p.format == f.Source().Name }
		if f.Source().Quants == nil || slices.ContainsFunc(passes, recorded) {
			continue
		}
		for _, p := range passes {
			if p.format != like.Source().Name {
				continue
			}
			p.format, p.launches = f.Source().Name, slices.Clone(p.launches)
			for i, l := range p.launches {
				if rest, ok := strings.CutPrefix(l.kernel, "matmul_"+like.Name+"_"); ok {
					p.launches[i].kernel = "matmul_" + f.Name + "_" + rest
					p.launches[i].bytes *= float64(f.Bytes(1, 1)) / float64(like.Bytes(1, 1))
				}
			}
			all = append(all, p)
		}
	}
	return all
}

// estimate is the time of a pass, in µs, and how many launches it has.
func estimate(p pass, c card, loops map[string]loop) (time float64, launches int) {
	fetches, fetched := p.fetching(c)
	for i, l := range p.launches {
		launches += l.count
		l.fetches, l.fetched = fetches[i], fetched[i]
		time += float64(l.count) * (gap + l.time(p.rows, c, loops))
	}
	return time, launches
}

// staying is an estimate, in µs, of what a pass would take as one launch that stays on the card: a barrier of the
// grid in place of the gap and the start of each launch, and products that request their first weights before it.
// No such kernel exists.
func staying(p pass, c card, loops map[string]loop) float64 {
	time, _ := estimate(p, c, loops)
	for _, l := range p.launches {
		saved := gap + step - barrier
		if strings.HasPrefix(l.kernel, "matmul_") {
			saved += latency
		}
		time -= float64(l.count) * saved
	}
	return time
}

// time is the time in µs of one of the equal launches l. It adds up the steps of the joined work and, for each wave
// of blocks, the steps of the kernel. Attention also reads keys and values, and takes at least as long as reading these
// and what it fetches. For a product, time adds what the function product returns, and the steps of the kernel at most
// twice, since blocks of later waves start while others work; only once if blocks take turns.
func (l launch) time(rows int, c card, loops map[string]loop) (time float64) {
	for _, work := range l.also {
		time += step * float64(stepsAlso[work])
	}
	steps := step * float64(stepsOf(l.kernel))
	switch {
	case strings.HasPrefix(l.kernel, "matmul_"):
		of := loops[l.kernel]
		inWaves := min(2, waves(l, c, max(1, of.registers)))
		if strings.HasSuffix(l.kernel, "_norm_row") {
			inWaves = 1 // a block takes several turns
		}
		return time + steps*inWaves + product(l, rows, c, of)
	case strings.HasPrefix(l.kernel, "attend_"):
		time += steps*waves(l, c, 128) + c.reading(l.bytes)
		return max(time, c.reading(l.bytes+l.fetches))
	}
	return time + steps*waves(l, c, 32)
}

// reading is the time in µs to read so many bytes from the card's memory.
func (c card) reading(bytes float64) float64 { return bytes / (streamed * c.bytes * 1e3) }

// waves is how many times the multiprocessors are filled with blocks, if a thread takes this many registers.
func waves(l launch, c card, registers int) float64 {
	resident := max(1, 65536/(registers*l.threads))
	return math.Ceil(float64(l.blocks) / float64(c.multiprocessor*resident))
}

// product is the time in µs of one product without its steps. With few rows, a warp waits for slabs and issues
// instructions, and this overlaps in part with reading. With many rows, the longest of reading, issuing and
// multiplying counts.
func product(l launch, rows int, c card, of loop) float64 {
	name, variant := strings.TrimPrefix(l.kernel, "matmul_"), ""
	if at := strings.LastIndexByte(name, '_'); at >= 0 {
		name, variant = strings.TrimSuffix(name[:at], "_norm"), name[at+1:]
	}
	f, bytes := layoutOf(name), l.bytes
	slabs := bytes / f.slab
	processors := float64(c.multiprocessor)
	if variant == "tile" {
		// One block at a time on each multiprocessor: the last wave may leave some without work.
		filled := float64(l.blocks) / (math.Ceil(float64(l.blocks)/processors) * processors)
		groups := math.Ceil(float64(rows)/8/float64(f.groups)) * float64(f.groups)
		multiplications := slabs * f.tiles * groups
		issue := multiplications * of.instructions / (processors * slotsOfTile * c.clock * 1e3)
		rate := c.half
		if f.int8 {
			rate = c.int8
		}
		if c.target == 90 {
			rate *= mmaOfPeak
		}
		tensor := multiplications * f.ops / (rate * 1e6)
		return max(max(issue, tensor)/filled, c.reading(bytes))
	}
	groups := map[string]float64{"row": 1, "rows8": 1, "rows16": 2, "rows32": 4}[variant]
	// A warp requests a slab, waits and multiplies, then requests its next. Each of the four schedulers of a
	// multiprocessor issues one instruction in a clock, for all warps of a wave in turn.
	warps := float64(l.threads) / 32
	inWaves := waves(l, c, max(1, of.registers))
	atOnce := math.Ceil(float64(l.blocks) / inWaves / processors)
	issue := atOnce * warps / 4 * f.tiles * groups * of.instructions / (c.clock * 1e3)
	waiting := inWaves * slabs / float64(l.blocks) / warps * (latency + issue)
	fetched := l.fetched
	if strings.HasSuffix(l.kernel, "_norm_row") { // a block asks for its first weights before it normalises its row
		fetched = min(bytes, fetched+2*step*streamed*c.bytes*1e3)
	}
	reading := c.reading(bytes-fetched) + fetched/(cached*processors*c.clock*1e3)
	return math.Hypot(waiting, reading) // if both are long, they overlap in part
}

// weightBytes is what a pass reads of weights, keys and values.
func (p pass) weightBytes() (bytes float64) {
	for _, l := range p.launches {
		bytes += float64(l.count) * l.bytes
	}
	return bytes
}
