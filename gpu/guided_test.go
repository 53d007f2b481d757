//go:build cuda && linux && cgo

package gpu_test

import (
	"math"
	"strings"
	"testing"

	"specula/assets"
	"specula/engine/compute"
	"specula/engine/model"
	"specula/kernels/ref"
)

// Guided rows have the bits that the host computes from the rows of a pass over both sequences, whose tokens
// it knows.
func TestGuidedRowsAreTheHosts(t *testing.T) {
	m := load(t, open(t), assets.Draft(), model.Options{MaxTokens: 64, MaxRows: 8})
	var caches []compute.Cache
	for _, context := range [][]int32{{5, 90}, {800, 33, 4000}} {
		cache, err := m.NewCache()
		if err != nil {
			t.Fatal(err)
		}
		defer cache.Close()
		if _, err := m.Prefill(t.Context(), cache, context, nil); err != nil {
			t.Fatal(err)
		}
		caches = append(caches, cache)
	}
	ids := []int32{7, 1200, 9}
	both, err := m.ForwardParts(t.Context(), model.Part{Cache: caches[0], IDs: ids}, model.Part{Cache: caches[1], IDs: ids})
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]float32, 2*len(ids))
	for i := range rows {
		rows[i] = make([]float32, both.Vocab())
		if err := both.Row(i, rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i, n := range []int{2, 3} {
		if err := caches[i].Truncate(n); err != nil {
			t.Fatal(err)
		}
	}
	tokens, err := m.Tokens(len(ids))
	if err != nil {
		t.Fatal(err)
	}
	defer tokens.Close()
	if err := tokens.Put(0, ids...); err != nil {
		t.Fatal(err)
	}
	guided, err := m.ForwardTokens(t.Context(), tokens, len(ids), caches...)
	if err != nil {
		t.Fatal(err)
	}
	if err := guided.(compute.Judge).Guide(1.8); err != nil {
		t.Fatal(err)
	}
	for i := range ids {
		row := make([]float32, guided.Vocab())
		if err := guided.Row(i, row); err != nil {
			t.Fatal(err)
		}
		for id, got := range row {
			if want := ref.GuideScore(rows[i][id], rows[len(ids)+i][id], 1.8); math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("row %d, token %d: %v, want %v", i, id, got, want)
			}
		}
	}
}

// Guidance costs no wait and no row: rounds are drafted and judged on the device as without it, with
// penalties too. Text and inspection are those of a host that judges whole rows.
func TestGuidedRoundsAreOneWait(t *testing.T) {
	e := demo(t, open(t))
	const prompt = "hello"
	for _, c := range []struct {
		temperature, penalty, path string
		rowBytes                   int64
	}{{"0", "1", "greedy", 4}, {"0.8", "1.3", "stochastic", 8}} {
		s := sampledSession(t, e, "temperature", c.temperature, "max-tokens", "9", "guidance", "4", "negative", "You are rude.",
			"repeat-penalty", c.penalty)
		r := ask(t, s, prompt)
		drafted := 0
		for _, round := range r.rounds {
			if most := c.rowBytes * int64(round.Gamma+1); round.Path != c.path || round.Syncs != 1 || round.BytesMoved > most ||
				!strings.Contains(round.PathWhy, "the device changes the scores by guidance 4") {
				t.Errorf("temperature %s, round %d: %s (%s), %d waits and %d bytes; want %s, 1 and at most %d", c.temperature, round.Index, round.Path,
					round.PathWhy, round.Syncs, round.BytesMoved, c.path, most)
			}
			drafted += len(round.Draft)
		}
		if r.failed != "" || drafted == 0 {
			t.Errorf("temperature %s: %d draft tokens, %s", c.temperature, drafted, r.failed)
		}
		seen := inspect(t, s, prompt)
		if seen.text != r.text {
			t.Errorf("temperature %s: %q, inspected %q", c.temperature, r.text, seen.text)
		}
		for _, round := range seen.rounds {
			for _, rule := range round.Rules {
				if c.temperature != "0" && rule.Rule == "token" && rule.Accepted != round.Accepted {
					t.Errorf("temperature %s: round %d kept %d, and by the host's distributions %d", c.temperature, round.Index, round.Accepted, rule.Accepted)
				}
			}
		}
		if c.temperature != "0" {
			continue
		}
		set(t, s, wholeRows...)
		if whole := ask(t, s, prompt); whole.text != r.text || whole.rounds[0].Path != "fallback" {
			t.Errorf("temperature %s: %q, on the path %s %q", c.temperature, r.text, whole.rounds[0].Path, whole.text)
		}
		set(t, s, "dry-multiplier", "0", "guidance", "1")
		if plain := ask(t, s, prompt); plain.text == r.text {
			t.Errorf("temperature %s: guidance does not change %q", c.temperature, r.text)
		}
	}
}
