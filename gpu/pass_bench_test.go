//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

// What the passes of a model cost; gpu/check/goals.txt says what they should cost. Times
// are the host's, from the call to the token, so that launches and the wait count.

var (
	sizes   = []string{"0.6B", "1.7B", "8B"}
	formats = []compute.DType{compute.BF16, compute.Q8_0, compute.Q4_K}
)

// pastTokens is how many tokens are in the cache when a pass is timed.
func pastTokens() int { return scaled(512, 8) }

// eachModel runs a benchmark for each size in each format, such as 8B-BF16.
func eachModel(b *testing.B, sizes []string, run func(b *testing.B, size string, typ compute.DType)) {
	for _, size := range slices.Backward(sizes) { // what matters most first
		for i, typ := range formats {
			if tinyShapes() && i > 0 && size != sizes[len(sizes)-1] {
				continue // formats differ, sizes do not: the first size has rehearsed them all
			}
			b.Run(size+"-"+gguf.TypeName(typ), func(b *testing.B) { run(b, size, typ) })
		}
	}
}

// median calls f while the benchmark wants more, but at least a few times. It returns the median
// in milliseconds.
func median(more func() bool, f func()) float64 { return medians(more, f)[0] }

// medians is median for several functions, which it calls in turns.
func medians(more func() bool, of ...func()) (ms []float64) {
	all := make([][]float64, len(of))
	turn := func() {
		for i, f := range of {
			began := time.Now()
			f()
			all[i] = append(all[i], float64(time.Since(began))/1e6)
		}
	}
	for more() {
		turn()
	}
	for len(all[0]) < scaled(5, 1) {
		turn()
	}
	for _, times := range all {
		slices.Sort(times)
		ms = append(ms, times[len(times)/2])
	}
	return ms
}

func never() bool { return false }

// warm gets graphs recorded: a pass is recorded when it comes the second time, and replayed from
// the third.
func warm(f func()) {
	for range 3 {
		f()
	}
}

func BenchmarkDecode(b *testing.B) { benchmarkRows(b, 1) }

func BenchmarkVerify5(b *testing.B) { benchmarkRows(b, 5) }

func BenchmarkVerify8(b *testing.B) { benchmarkRows(b, 8) }

// benchmarkRows times passes of that many rows, and compares them with passes of one row and with
// copying the bytes that they read.
func benchmarkRows(b *testing.B, rows int) {
	eachModel(b, sizes, func(b *testing.B, size string, typ compute.DType) {
		on := openMade(b)
		copied := on.copyBytesPerMS(b)
		s := newSubject(b, on, size, typ, pastTokens()+32, pastTokens())
		s.read(b, pastTokens())
		one, several := func() { s.pass(b, 1) }, func() { s.pass(b, rows) }
		warm(one)
		warm(several)
		plain := median(never, one)
		ms := median(b.Loop, several)
		b.ReportMetric(ms, "ms")
		b.ReportMetric(ms/plain, "of-v1")
		b.ReportMetric(s.readBytes()/ms/1e6, "GB/s")
		b.ReportMetric(s.readBytes()/ms/copied, "of-copy")
		b.ReportMetric(copied/1e6, "copy-GB/s")
	})
}

// BenchmarkRows measures v(m), the cost of a pass of m rows, for every m that a round can ask for.
func BenchmarkRows(b *testing.B) {
	eachModel(b, sizes[2:], func(b *testing.B, size string, typ compute.DType) {
		on := openMade(b)
		s := newSubject(b, on, size, typ, pastTokens()+32, pastTokens())
		s.read(b, pastTokens())
		for b.Loop() {
			for m := 1; m <= 16; m += scaled(1, 15) {
				pass := func() { s.pass(b, m) }
				warm(pass)
				b.ReportMetric(median(never, pass), fmt.Sprintf("v%d-ms", m))
			}
		}
	})
}

// BenchmarkFetchAhead times passes in which attention fetches weights for the products after it, against passes in
// which it does not, in turns.
func BenchmarkFetchAhead(b *testing.B) {
	eachModel(b, []string{"0.6B", "8B"}, func(b *testing.B, size string, typ compute.DType) {
		on := openMade(b)
		s := newSubject(b, on, size, typ, pastTokens()+32, pastTokens())
		s.read(b, pastTokens())
		limit := on.fetchLimit
		pass := func(rows int, limit fetchLimit) func() {
			f := func() {
				on.fetchLimit = limit
				s.pass(b, rows)
			}
			warm(f)
			return f
		}
		one := medians(b.Loop, pass(1, limit), pass(1, fetchLimit{}))
		b.ReportMetric(one[0], "ms")
		b.ReportMetric(one[1], "without-ms")
		b.ReportMetric(one[0]/one[1], "of-without")
		five := medians(never, pass(5, limit), pass(5, fetchLimit{}))
		b.ReportMetric(five[0]/five[1], "v5-of-without")
	})
}

// draftTokens is a usual γ.
const draftTokens = 4

// The steps of a draft are one graph, in which each token is fed back on the device.
func BenchmarkDraftStep(b *testing.B) {
	eachModel(b, sizes[:1], func(b *testing.B, size string, typ compute.DType) {
		s := newSubject(b, openMade(b), size, typ, pastTokens()+32, pastTokens())
		s.read(b, pastTokens())
		tokens, err := s.Tokens(draftTokens + 1)
		if err != nil {
			b.Fatal(err)
		}
		defer tokens.Close()
		draft := func() {
			err := s.Chain(b.Context(), s.cache, s.ids[:1], draftTokens, tokens, nil)
			if err == nil {
				err = tokens.Get(1, make([]int32, draftTokens))
			}
			if err = first(err, s.cache.Truncate(s.past)); err != nil {
				b.Fatal(err)
			}
		}
		warm(draft)
		b.ReportMetric(median(b.Loop, draft)/draftTokens, "ms")
	})
}

// A round: a draft of 4 tokens, its verification and the verdict, with one wait. Once at
// temperature 0, once sampled.
func BenchmarkRound(b *testing.B) { benchmarkRound(b, nil) }

func BenchmarkSampledRound(b *testing.B) {
	f := compute.Filters{Temperature: 0.7, TopP: 1}
	benchmarkRound(b, &compute.Sampling{Target: f, Draft: f, Seed: 1, Drafts: draftTokens})
}

func benchmarkRound(b *testing.B, by *compute.Sampling) {
	for _, typ := range formats {
		b.Run("8B+0.6B-"+gguf.TypeName(typ), func(b *testing.B) {
			on := openMade(b)
			draft := newSubject(b, on, "0.6B", typ, pastTokens()+32, pastTokens())
			target := newSubject(b, on, "8B", typ, pastTokens()+32, pastTokens())
			draft.read(b, pastTokens())
			target.read(b, pastTokens())
			tokens, err := draft.Tokens(draftTokens + 1)
			if err != nil {
				b.Fatal(err)
			}
			defer tokens.Close()
			if by != nil {
				by.Vocab = target.Config().Vocab
			}
			var bytes int64
			var waits int
			round := func() {
				err := draft.Chain(b.Context(), draft.cache, draft.ids[:1], draftTokens, tokens, by)
				if err != nil {
					b.Fatal(err)
				}
				logits, err := target.ForwardTokens(b.Context(), tokens, draftTokens+1, target.cache)
				if err == nil {
					err = judge(logits.(compute.Judge), tokens, by != nil)
				}
				if err = first(err, draft.cache.Truncate(draft.past),
					target.cache.Truncate(target.past)); err != nil {
					b.Fatal(err)
				}
				bytes, waits = logits.Moved()
			}
			warm(round)
			b.ReportMetric(median(b.Loop, round), "ms")
			b.ReportMetric(float64(bytes), "down-bytes")
			b.ReportMetric(float64(waits), "waits")
		})
	}
}

func judge(j compute.Judge, t compute.Tokens, drawn bool) error {
	if drawn {
		_, err := j.AcceptDrawn(t)
		return err
	}
	_, err := j.AcceptBest(t, make([]int32, draftTokens))
	return err
}

func BenchmarkPrefill512(b *testing.B) { benchmarkPrefill(b, scaled(512, 24), sizes) }

func BenchmarkPrefill4096(b *testing.B) { benchmarkPrefill(b, scaled(4096, 48), sizes[2:]) }

// benchmarkPrefill times reading a prompt in passes of up to 512 tokens. It compares with matrix
// products that never leave the registers.
func benchmarkPrefill(b *testing.B, tokens int, sizes []string) {
	eachModel(b, sizes, func(b *testing.B, size string, typ compute.DType) {
		on := openMade(b)
		peak := on.peakPerMS(b)
		s := newSubject(b, on, size, typ, tokens+1, min(tokens, scaled(512, 24)))
		prompt := func() {
			s.read(b, tokens)
			if err := on.onDevice(func() error { return on.device.Wait(on.stream) }); err != nil {
				b.Fatal(err)
			}
		}
		warm(prompt)
		ms := median(b.Loop, prompt)
		operations := 0.0
		for i, m := range s.products() {
			if i == 0 {
				continue // output matrix: only the last token's scores are computed
			}
			operations += 2 * float64(m.rows) * float64(m.cols) * float64(tokens)
		}
		b.ReportMetric(ms, "ms")
		b.ReportMetric(float64(tokens)/ms*1e3, "tokens/s")
		b.ReportMetric(operations/ms/1e9, "Tops/s")
		b.ReportMetric(operations/ms/peak, "of-peak")
		b.ReportMetric(peak/1e9, "peak-Tops/s")
	})
}
