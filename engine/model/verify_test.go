package model_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights/gguf"
	"specula/kernels/cpu"
	"specula/kernels/format"
)

// mostRows is the largest γ + 1. splitKeys is where the first split of attention ends.
const (
	mostRows  = 33
	splitKeys = cpu.KeysPerSplit
)

// rowCounts are the row counts at which kernels switch to another method, and their neighbours.
func rowCounts() []int { return []int{2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33} }

// formats are the weight types that a file may have.
func formats() []compute.DType {
	var all []compute.DType
	for _, f := range format.Loadable() {
		all = append(all, compute.DType(f.Type))
	}
	return all
}

// everyFormat returns small models of each weight type: in Q8_0 and F16 one with each cache type, in the others one,
// with the cache types in turn. Attention does not depend on the weight type, so not all pairs are tried.
func everyFormat() (all []subject) {
	caches := []compute.DType{compute.F32, compute.F16, compute.Q8_0}
	for i, weights := range formats() {
		some := caches[i%3:][:1]
		if weights == compute.Q8_0 || weights == compute.F16 {
			some = caches
		}
		for _, kept := range some {
			name := fmt.Sprintf("random %s, cache %s", gguf.TypeName(weights), gguf.TypeName(kept))
			all = append(all, subject{name: name, open: func(t testing.TB, b compute.Backend, o model.Options) *model.Model {
				o.CacheType = kept
				return noise(t, b, "tiny", weights, o)
			}, near: len(some) == 1})
		}
	}
	return all
}

// someMixtures returns small mixtures of experts: the more rows a pass has, the more of them use the same expert and
// are computed together.
func someMixtures() (all []subject) {
	for _, weights := range []compute.DType{compute.Q4_K, compute.MXFP4, compute.F16} {
		all = append(all, subject{name: "random experts " + gguf.TypeName(weights), open: func(t testing.TB, b compute.Backend, o model.Options) *model.Model {
			return noise(t, b, "tiny-moe", weights, o)
		}, near: true})
	}
	return all
}

// text is where rows are verified: these ids, after some other tokens.
type text struct {
	name   string
	before int // tokens that are read before
	ids    []int32
}

func texts(t testing.TB, vocab int) []text {
	prompt := within(referenceCases(t)[0].IDs, vocab)
	return []text{
		{"random", 0, randomIDs(mostRows, vocab, 1)},
		{"one token over and over", 1, make([]int32, mostRows)},
		{"a prompt", 0, prompt[:min(mostRows, len(prompt))]},
		{"up to the end of a split of attention", splitKeys - mostRows, randomIDs(mostRows, vocab, 2)},
		{"across the end of a split", splitKeys - mostRows/2, randomIDs(mostRows, vocab, 2)},
		{"after the end of a split", splitKeys, randomIDs(mostRows, vocab, 2)},
	}
}

// Verifying m rows gives the same bits as m decoding steps, in the logits and in every layer of the
// cache, for every m up to the largest γ + 1. This holds for every weight type and cache type, at
// every position of a text, and after drafts that were rejected: over the texts, each m is tried with
// rejections and without. Where attention splits its keys, the weight type does not matter: two of them
// are tried there, with every cache type.
func TestVerifyEqualsDecode(t *testing.T) {
	for _, s := range slices.Concat(demoAndTies(), everyFormat(), someMixtures(), someFamilies()) {
		t.Run(s.name, func(t *testing.T) {
			m := s.open(t, newBackend(t, 2), model.Options{MaxTokens: splitKeys + 2*mostRows, MaxRows: mostRows})
			vocab := m.Config().Vocab
			for turn, text := range texts(t, vocab) {
				if s.near && text.before >= splitKeys-mostRows {
					continue
				}
				cache := newCache(t, m)
				if text.before > 0 {
					if _, err := m.Prefill(context.Background(), cache, randomIDs(text.before, vocab, 3), nil); err != nil {
						t.Fatal(err)
					}
				}
				want := runSteps(t, m, cache, text.ids, 1)
				for i, rows := range rowCounts() {
					run, how := inTurns(turn + i)
					run(t, m, cache, text.ids, rows).same(t, fmt.Sprintf("%s, %d rows%s", text.name, rows, how), want)
				}
				if err := cache.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// The same on every other instruction level of the processor, in a shorter form: kernels/cpu
// compares the levels with each other.
func TestVerifyEqualsDecodeOnEveryLevel(t *testing.T) {
	for _, level := range cpu.Levels() {
		if level == cpu.Highest() {
			continue // covered by TestVerifyEqualsDecode
		}
		for i, s := range everyFormat() {
			if i%3 != i/3%3 {
				continue // a third of them is enough: some with each cache type
			}
			t.Run(level.String()+"/"+s.name, func(t *testing.T) {
				defer cpu.SetLevel(level)()
				m := s.open(t, newBackend(t, 1), model.Options{MaxTokens: 3 * mostRows, MaxRows: mostRows})
				cache, ids := newCache(t, m), randomIDs(mostRows, m.Config().Vocab, 1)
				want := runSteps(t, m, cache, ids, 1)
				for _, rows := range []int{4, 9, 17, mostRows} {
					runRounds(t, m, cache, ids, rows).same(t, fmt.Sprintf("%d rows of which some are rejected", rows), want)
				}
			})
		}
	}
}

// inTurns returns runSteps for even numbers and runRounds for odd ones, with words for runRounds. A test that reads
// several texts with each number of rows takes both in turn.
func inTurns(turn int) (run func(testing.TB, *model.Model, compute.Cache, []int32, int) record, how string) {
	if turn%2 == 0 {
		return runSteps, ""
	}
	return runRounds, ", of which some are rejected"
}

// runRounds is runSteps with draft tokens that are rejected: the text continues with the first rows
// of each pass, and the others are rolled back.
func runRounds(t testing.TB, m *model.Model, cache compute.Cache, ids []int32, rows int) record {
	t.Helper()
	random := rand.New(rand.NewPCG(13, uint64(rows)))
	var r record
	start, at := cache.Len(), 0
	for round := uint64(0); at < len(ids); round++ {
		kept := min(len(ids)-at, 1+random.IntN(rows))
		pass := slices.Concat(ids[at:at+kept], randomIDs(rows-kept, m.Config().Vocab, 20+round))
		logits, err := m.Forward(context.Background(), cache, pass)
		if err != nil {
			t.Fatal(err)
		}
		r.scores = append(r.scores, scoresOf(t, logits)[:kept]...)
		if at += kept; cache.Len() != start+at-kept+rows {
			t.Fatalf("the cache holds %d tokens, want %d", cache.Len(), start+at-kept+rows)
		}
		if err := cache.Truncate(start + at); err != nil {
			t.Fatal(err)
		}
	}
	r.addCache(t, m, cache, start)
	if err := cache.Truncate(start); err != nil {
		t.Fatal(err)
	}
	return r
}
