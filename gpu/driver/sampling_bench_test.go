//go:build cuda && linux && cgo

package driver

import (
	"encoding/binary"
	"fmt"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// What verification and sampling cost at the vocabularies of real models. Many launches are
// recorded into one graph, so that the time is that of the kernels, not of launching them.

// sampler is a device with rows of scores, and the kernels that work on them.
type sampler struct {
	*Device
	stream  Stream
	vocab   int
	scores  Pointer // (rows, vocab)
	filters Pointer
	modules map[string]Module
}

func put(d *Device, s Stream, values any) Pointer {
	content := get(binary.Append(nil, binary.LittleEndian, values))
	p := get(d.Alloc(int64(len(content))))
	must(d.Upload(s, p, content))
	return p
}

// differentRows is how many rows of scores are drawn. More rows are copies of them.
const differentRows = 8

func newSampler(d *Device, rows, vocab int) *sampler {
	s := &sampler{Device: d, stream: get(d.NewStream()), vocab: vocab, modules: map[string]Module{}}
	drawn := simtest.Normal(1, differentRows*vocab)
	for i := range drawn {
		drawn[i] *= 3
	}
	pool := put(d, s.stream, drawn)
	s.scores = get(d.Alloc(int64(4 * rows * vocab)))
	for r := range rows {
		must(d.Copy(s.stream, s.scores+Pointer(4*r*vocab), pool+Pointer(4*(r%differentRows)*vocab),
			int64(4*vocab)))
	}
	s.filters = s.filter(1)
	return s
}

func (s *sampler) filter(temperature float32) Pointer {
	return put(s.Device, s.stream,
		[]ref.Filters{{Temperature: temperature, FilterTemperature: temperature, TopP: 1}})
}

// launch prepares a launch of a kernel of a module.
func (s *sampler) launch(module, kernel string, shape Shape, arguments ...Argument) Launch {
	m, ok := s.modules[module]
	if !ok {
		m = get(s.Load(module, get(cuda.PTX(module))))
		s.modules[module] = m
	}
	f := get(s.Kernel(m, kernel))
	if shape.SharedBytes > 48<<10 {
		must(s.SetDynamicShared(f, shape.SharedBytes))
	}
	return get(s.Prepare(f, shape, arguments...))
}

// peaks is the launch before argmax and softmax, and what it writes.
func (s *sampler) peaks(rows int) (Launch, Pointer) {
	slices := ref.Slices(s.vocab)
	peaks := get(s.Alloc(int64(8 * rows * slices)))
	return s.launch("argmax", "peak_rows", Shape{Grid: [3]int{(slices + 7) / 8, rows}, Block: [3]int{256}},
		Address(s.scores), Address(peaks), Int(int32(s.vocab))), peaks
}

// softmax is both launches for rows by a filter, with the weights and sums that they write.
func (s *sampler) softmax(rows int, filters Pointer) (both []Launch, weights, sums Pointer) {
	slices := ref.Slices(s.vocab)
	first, peaks := s.peaks(rows)
	weights, sums = get(s.Alloc(int64(4*rows*s.vocab))), get(s.Alloc(int64(8*rows*slices)))
	second := s.launch("softmax", "softmax_rows",
		Shape{Grid: [3]int{(slices + 7) / 8, rows}, Block: [3]int{256}},
		Address(s.scores), Address(peaks), Address(0), Address(filters), Address(weights), Address(sums), Int(int32(s.vocab)))
	return []Launch{first, second}, weights, sums
}

// draw fills ids (rows) with tokens drawn from rows of weights, a row a sequence.
func (s *sampler) draw(rows int, weights, sums, rounds, ids Pointer) Launch {
	chances := get(s.Alloc(int64(4 * rows)))
	return s.launch("softmax", "draw_rows", Shape{Grid: [3]int{1, rows}, Block: [3]int{32}},
		Address(weights), Address(sums), Address(rounds),
		Int(ref.DraftDraw), Int(0), Address(ids), Address(0), Address(chances), Int(int32(s.vocab)))
}

// report times launches.
func (s *sampler) report(b *testing.B, launches ...Launch) {
	times := scaled(20, 1)
	graph := get(s.Capture(s.stream, func() error {
		for range times {
			for _, l := range launches {
				must(s.Run(l, s.stream))
			}
		}
		return nil
	}))
	for b.Loop() {
		b.ReportMetric(deviceMS(s.Device, s.stream, func() { must(s.Replay(graph, s.stream)) })/float64(times), "ms")
	}
	must(s.FreeGraph(graph))
}

func vocabOf152k() int { return scaled(151_936, 1100) }

func withSampler(b *testing.B, rows, vocab int, run func(s *sampler)) {
	d := open(b)
	on(b, d, func() { run(newSampler(d, rows, vocab)) })
}

func BenchmarkSoftmax(b *testing.B) {
	b.Run("5x152k", func(b *testing.B) {
		withSampler(b, 5, vocabOf152k(), func(s *sampler) {
			launches, _, _ := s.softmax(5, s.filters)
			s.report(b, launches...)
		})
	})
}

func BenchmarkArgmax(b *testing.B) {
	b.Run("5x152k", func(b *testing.B) {
		withSampler(b, 5, vocabOf152k(), func(s *sampler) {
			first, peaks := s.peaks(5)
			ids := get(s.Alloc(4 * 5))
			s.report(b, first, s.launch("argmax", "argmax_rows", Shape{Grid: [3]int{5}, Block: [3]int{32}}, Address(peaks), Address(ids), Address(0), Int(int32(s.vocab))))
		})
	})
}

// BenchmarkGather times the kernel that judges the draft of one sequence: it reads p and q at the
// drafted ids from the rows, decides, and draws the token that follows.
func BenchmarkGather(b *testing.B) {
	b.Run("5x152k", func(b *testing.B) {
		withSampler(b, 5, vocabOf152k(), func(s *sampler) { s.report(b, s.rejection(1, 4)) })
	})
}

func BenchmarkReject(b *testing.B) {
	b.Run("64x5x128k", func(b *testing.B) {
		sequences := scaled(64, 2)
		withSampler(b, sequences*6, scaled(128_256, 1100),
			func(s *sampler) { s.report(b, s.rejection(sequences, 5)) })
	})
}

// rejection makes weights of a target and a draft whose scores mostly differ, and draws draft
// tokens from the draft's weights. Its launch judges these tokens. Most sequences then draw from a
// residual, which is the most work.
func (s *sampler) rejection(sequences, drafts int) Launch {
	rows := sequences * (drafts + 1)
	rounds := make([]ref.Round, max(sequences, rows))
	for i := range rounds {
		rounds[i] = ref.Round{Seed: [2]uint32{7, 1}, Reply: uint32(i), Round: 3, Drafts: int32(drafts)}
	}
	given := put(s.Device, s.stream, rounds)
	target, p, pSums := s.softmax(rows, s.filters)
	draft, q, qSums := s.softmax(sequences*drafts, s.filter(1.25))
	ids := get(s.Alloc(int64(4 * rows)))
	for _, l := range append(append(target, draft...), s.draw(sequences*drafts, q, qSums, given, ids)) {
		must(s.Run(l, s.stream))
	}
	must(s.Wait(s.stream))
	results, slices := get(s.Alloc(int64(8*rows))), ref.Slices(s.vocab)
	rest, arrived := get(s.Alloc(int64(16*slices*sequences))), put(s.Device, s.stream, make([]int32, sequences))
	return s.launch("reject", "reject", Shape{Grid: [3]int{(slices + 3) / 4, sequences}, Block: [3]int{128}},
		Address(p), Address(pSums), Address(q), Address(qSums), Address(ids), Address(given), Address(rest), Address(arrived),
		Address(results), Int(int32(drafts)), Int(int32(s.vocab)), Int(int32(s.vocab)))
}

func BenchmarkCutTopK(b *testing.B) { benchmarkCut(b, ref.Filters{TopK: 50, TopP: 1}) }

func BenchmarkCutTopP(b *testing.B) { benchmarkCut(b, ref.Filters{TopP: 0.95}) }

// benchmarkCut finds which scores the filters by rank leave, of one row and of five.
func benchmarkCut(b *testing.B, f ref.Filters) {
	f.Temperature, f.FilterTemperature = 1, 1
	for _, rows := range []int{1, 5} {
		name := "152k"
		if rows > 1 {
			name = fmt.Sprintf("%dx152k", rows)
		}
		b.Run(name, func(b *testing.B) {
			withSampler(b, rows, vocabOf152k(), func(s *sampler) {
				first, peaks := s.peaks(rows)
				cuts, found := get(s.Alloc(int64(8*rows))), put(s.Device, s.stream, make([]byte, rows*cuda.CutBytes))
				filters := put(s.Device, s.stream, []ref.Filters{f})
				grid := [3]int{ref.Slices(s.vocab), rows}
				s.report(b, first,
					s.launch("nucleus", "bin_rows", Shape{Grid: grid, Block: [3]int{256}},
						Address(s.scores), Address(peaks), Address(filters), Address(found), Int(int32(s.vocab))),
					s.launch("nucleus", "cut_rows", Shape{Grid: grid, Block: [3]int{512}},
						Address(s.scores), Address(peaks), Address(filters), Address(found), Address(cuts), Int(int32(s.vocab))))
			})
		})
	}
}

// BenchmarkRank finds the 20 best tokens of five rows, all of which a verdict has used.
func BenchmarkRank(b *testing.B) {
	b.Run("5x152k", func(b *testing.B) {
		const rows = 5
		withSampler(b, rows, vocabOf152k(), func(s *sampler) {
			first, peaks := s.peaks(rows)
			slices := ref.Slices(s.vocab)
			verdict, drafts := put(s.Device, s.stream, []uint32{(rows - 1) << 24}), put(s.Device, s.stream, make([]int32, rows-1))
			sums, best := get(s.Alloc(int64(8*rows*slices))), get(s.Alloc(rows*cuda.RankBytes))
			results := get(s.Alloc(int64(8 * rows * cuda.RankedWords(cuda.MostRanked))))
			arrived := put(s.Device, s.stream, make([]int32, rows))
			s.report(b, first, s.launch("ranking", "rank_rows", Shape{Grid: [3]int{(slices + 7) / 8, rows}, Block: [3]int{256}},
				Address(s.scores), Address(peaks), Address(verdict), Address(drafts), Address(sums), Address(best), Address(arrived), Address(results),
				Int(cuda.MostRanked), Int(int32(s.vocab))))
		})
	})
}
