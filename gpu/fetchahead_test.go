package gpu

import (
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// fetchingLayer are attention of one row with 2 key heads in 4 splits, and the products after it.
func fetchingLayer() (a attend, output, gate, up, down product) {
	of := func(memory driver.Pointer, rows, cols int) product {
		return product{rows: 1, weight: &matrix{memory: memory << 32, rows: rows, cols: cols, format: cuda.Q8_0}}
	}
	a = attend{part: partial{heads: 4, splits: 4, headDim: 128}, cache: layerCache{half: true, kvHeads: 2, keyDim: 128, valueDim: 128}, rows: 1}
	return a, of(1, 512, 512), of(2, 2048, 512), of(3, 2048, 512), of(4, 512, 2048)
}

// wholeOf returns the weights of a product from their beginning to their end.
func wholeOf(p product) weightRange {
	return weightRange{p.weight.memory, p.weight.format.Bytes(p.weight.rows, p.weight.cols)}
}

func TestAttentionFetchesTheNextWeights(t *testing.T) {
	usualAttention, output, gate, up, down := fetchingLayer()
	usual := []operation{productsThen{products: products{output}}, normSummed{}, products{gate, up}, down, normSummed{}, output}
	card := fetchLimit{bytes: 8 << 20, multiprocessors: 132}
	ofExperts := gate
	ofExperts.by.slots = 1
	all := []weightRange{wholeOf(output), wholeOf(gate), wholeOf(up), wholeOf(down)}
	part := weightRange{gate.weight.memory, 256}
	for name, c := range map[string]struct {
		card   fetchLimit
		change func(*attend)
		later  []operation
		want   []weightRange
	}{
		"four matrices":                    {card, nil, usual, all},
		"until the limit":                  {fetchLimit{all[0].bytes + part.bytes, 132}, nil, usual, []weightRange{all[0], part}},
		"exactly to the limit":             {fetchLimit{all[0].bytes, 132}, nil, usual, all[:1]},
		"nothing on a card that may not":   {fetchLimit{0, 132}, nil, usual, nil},
		"until the next attention":         {card, nil, []operation{output, usualAttention, gate}, all[:1]},
		"until the next that combines":     {card, nil, []operation{output, attendThen{attend: usualAttention}, gate}, all[:1]},
		"nothing before another attention": {card, nil, []operation{usualAttention, output}, nil},
		"no experts":                       {card, nil, []operation{output, ofExperts, products{ofExperts, ofExperts}, down}, []weightRange{all[0], all[3]}},
		"no products":                      {card, nil, []operation{normSummed{}}, nil},
		"for the longest verification":     {card, func(a *attend) { a.rows = 33 }, usual, all},
		"not for a prompt":                 {card, func(a *attend) { a.rows = 34 }, usual, nil},
		"not with a float32 cache":         {card, func(a *attend) { a.cache.half = false }, usual, nil},
		"not where attention fills a card": {card, func(a *attend) { a.part.splits = 64 }, usual, nil},
		"not where few are idle":           {fetchLimit{8 << 20, 32}, func(a *attend) { a.part.splits, a.part.heads, a.cache.kvHeads = 1, 60, 30 }, usual, nil},
	} {
		a := usualAttention
		if c.change != nil {
			c.change(&a)
		}
		for _, o := range []operation{a, attendThen{attend: a}} {
			var want, got weightsAhead
			copy(want.ranges[:], c.want)
			switch o := fetchAhead(append([]operation{o}, c.later...), c.card)[0].(type) {
			case attend:
				got = o.ahead
			case attendThen:
				got = o.ahead
			}
			if got.ranges != want.ranges || got.blocks > 0 != (len(c.want) > 0) {
				t.Errorf("%s: %T fetches %+v, want %+v", name, o, got, want.ranges)
			}
		}
	}
}

// Attention and its extra blocks run at once, and there are no more extra blocks for each split than the lines need.
func TestHowManyBlocksFetch(t *testing.T) {
	a, output, _, _, _ := fetchingLayer()
	const lines = 2176
	for multiprocessors, want := range map[int]int{8: 0, 9: 0, 11: 0, 12: 1, 20: 3, 132: 3} { // one more means a block in each of four splits
		got := fetchAhead([]operation{a, output}, fetchLimit{1 << 30, multiprocessors})[0].(attend)
		if got.ahead.blocks != want {
			t.Errorf("%d multiprocessors: %d extra blocks for each split, want %d", multiprocessors, got.ahead.blocks, want)
		}
		if grid := got.launch().shape.Grid; grid[1] != 2+want || want > 0 && grid[0]*grid[1] > multiprocessors {
			t.Errorf("%d multiprocessors: a grid of %v", multiprocessors, grid)
		}
	}
	if n := wholeOf(output).bytes / cuda.LineBytes; n != lines {
		t.Errorf("%d lines, want %d, which 3 times 4 blocks of 256 threads fetch", n, lines)
	}
}

// attention is a launch of attention as the recorder saw it, with the weights of the products after it.
type attention struct {
	extra         bool
	fetches, next []weightRange
}

// attentionsOf records the attentions of the passes that run makes.
func attentionsOf(d *recorder, run func()) (all []attention) {
	d.onRun = func(kernel string, shape driver.Shape, arguments []driver.Argument) {
		switch {
		case strings.HasPrefix(kernel, "attend_half_"):
			all = append(all, attention{extra: shape.Grid[1] > int(int32(arguments[keyHeads])), fetches: rangesOf(arguments)})
		case strings.HasPrefix(kernel, "matmul_q8_0_") && len(all) > 0:
			last, slabs := &all[len(all)-1], int(int32(arguments[4*cuda.MostJoined+2]))
			for i := range cuda.MostJoined {
				if of := arguments[4*i:]; of[2] != 0 {
					last.next = append(last.next, weightRange{driver.Pointer(of[2]), cuda.Q8_0.Bytes(int(int32(of[1])), slabs*cuda.Q8_0.Columns)})
				}
			}
		}
	}
	run()
	d.onRun = nil
	return all
}

// In decoding and verification, attention fetches the weights of the next four products, as these are given to their
// kernels. In reading a prompt it fetches nothing. The same passes are one graph.
func TestPassesFetchTheirWeights(t *testing.T) {
	shape := smallest
	shape.Layers, shape.Dim, shape.FFN, shape.HeadDim = 3, 512, 1024, 128
	d := newRecorder(t)
	b, err := newBackend(d)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(t.Context(), b, hollowFile(t, shape, compute.Q8_0), model.Options{MaxTokens: 300, MaxRows: 40, CacheType: compute.F16}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	pass := func(rows int) {
		logits, err := m.Forward(t.Context(), cache, make([]int32, rows))
		if err != nil {
			t.Fatal(err)
		}
		if err := first(logits.Argmax(make([]int32, rows)), cache.Truncate(0)); err != nil {
			t.Fatal(err)
		}
	}
	for _, rows := range []int{1, 5, 33, 34} {
		all := attentionsOf(d, func() { pass(rows) })
		if len(all) != shape.Layers {
			t.Fatalf("%d rows: %d attentions, want %d", rows, len(all), shape.Layers)
		}
		for layer, a := range all {
			want := a.next[:cuda.MostFetched]
			if rows > compute.MostDrafts+1 {
				want = nil
			}
			if !slices.Equal(a.fetches, want) || a.extra != (want != nil) {
				t.Errorf("%d rows, layer %d: fetches %+v, want %+v", rows, layer, a.fetches, want)
			}
		}
	}
	pass(1)
	d.log = nil
	if pass(1); !slices.Contains(d.log, "graph") {
		t.Errorf("a pass that comes again queued %q", d.log)
	}
	if b.fetchLimit.bytes = 0; attentionsOf(d, func() { pass(1) })[0].extra {
		t.Error("attention fetches though it may not")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// A card fetches what its memory delivers in 8 µs, at most half of its cache, and nothing if the driver does not tell
// both.
func TestTheLimitOfFetching(t *testing.T) {
	for card, want := range map[driver.Info]int{
		{L2Bytes: 50 << 20, BytesPerUS: 1_000_000}: 8_000_000,
		{L2Bytes: 6 << 20, BytesPerUS: 1_000_000}:  3 << 20,
		{L2Bytes: 50 << 20}:                        0,
		{BytesPerUS: 1_000_000}:                    0,
	} {
		if got := fetchLimitOf(card).bytes; got != want {
			t.Errorf("%+v fetches %d bytes, want %d", card, got, want)
		}
	}
}
