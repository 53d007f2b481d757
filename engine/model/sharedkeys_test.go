package model_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights"
)

// sharedKeys is a fixture of eight layers. Of these, the last three attend to the keys and values of
// layers 3 (with a window) and 4.
const sharedKeys = "gemma4-shared"

// A cache holds nothing for layers that attend to the keys and values of earlier ones.
func TestSharedKeysAreKeptOnce(t *testing.T) {
	f := &fixture{name: sharedKeys}
	m := f.open(t, newBackend(t, 1), model.Options{MaxTokens: 64})
	for i := range m.Config().Layers {
		got, want := m.CacheLayer(i), compute.CacheLayer{KVHeads: 2, KeyDim: 8, ValueDim: 8}
		switch i {
		case 2, 4:
			want.KeyDim, want.ValueDim = 16, 16
		case 5, 6, 7:
			want = compute.CacheLayer{}
		}
		if got != want {
			t.Errorf("layer %d keeps %+v, want %+v", i, got, want)
		}
	}
	if got := m.Config().Lenders; !slices.Equal(got, []int{3, 4}) {
		t.Errorf("others attend to the keys of the layers %v, want 3 and 4", got)
	}
}

// A view without some layers attends to the keys of the same layers as the model. A layer whose keys others
// need cannot be left out.
func TestViewsKeepLenders(t *testing.T) {
	f := &fixture{name: sharedKeys}
	m := f.open(t, newBackend(t, 1), model.Options{MaxTokens: 64, MaxRows: 8})
	if got := m.Config().MiddleLayers(); !slices.Equal(got, []int{5}) {
		t.Errorf("by default the layers %v are left out; 3 and 4 must stay", got)
	}
	if _, err := m.Without([]int{4}); err == nil || !strings.Contains(err.Error(), "layer 7 attends to its keys") {
		t.Errorf("without layer 4: %v", err)
	}
	ids := randomIDs(8, m.Config().Vocab, 6)
	first, err := m.Without([]int{1, 5}) // before and after the lenders
	if err != nil {
		t.Fatal(err)
	}
	prefill := func(m *model.Model, ids []int32) [][]float32 {
		logits, err := m.Prefill(context.Background(), newCache(t, m), ids, nil)
		if err != nil {
			t.Fatal(err)
		}
		return scoresOf(t, logits)
	}
	whole := prefill(m, ids)
	cut := prefill(first, ids)
	if slices.Equal(whole[0], cut[0]) {
		t.Error("leaving out two layers changed nothing")
	}
	// Token by token, a view that took the keys of a wrong layer would read rows that are not there yet.
	cache := newCache(t, first)
	for _, id := range ids[:7] {
		if _, err := first.Forward(context.Background(), cache, []int32{id}); err != nil {
			t.Fatal(err)
		}
	}
	logits, err := first.Forward(context.Background(), cache, ids[7:])
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "token by token", scoresOf(t, logits), cut)
}

// Files that say something impossible about shared keys are refused, with the field or tensor.
func TestMalformedSharedKeys(t *testing.T) {
	data := (&fixture{name: sharedKeys}).data(t)
	renamed := func(name, other string) []byte { return bytes.Replace(data, []byte(name), []byte(other), 1) }
	for want, file := range map[string][]byte{
		"no layer before layer 2 has keys and values of its kind": withUint32(data, "gemma4.attention.shared_kv_layers", 6),
		"shared_kv_layers\" is 8; allowed is 1 to 7":              withUint32(data, "gemma4.attention.shared_kv_layers", 8),
		"attn_k.weight\" is missing":                              renamed("blk.4.attn_k.weight", "blk.4.attn_x.weight"),
		"layer_output_scale.weight\" is 0; allowed":               zeroScale(t, data),
	} {
		f, err := weights.Parse(sharedKeys, file)
		if err == nil {
			_, err = model.Load(context.Background(), newBackend(t, 1), f, model.Options{MaxTokens: 64}, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}

// Published files have keys and values also for layers that do not use them.
func TestUnusedKeysAreIgnored(t *testing.T) {
	file, err := weights.Parse(sharedKeys, withUint32((&fixture{name: sharedKeys}).data(t), "gemma4.attention.shared_kv_layers", 4))
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(context.Background(), newBackend(t, 1), file, model.Options{MaxTokens: 64}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Config().Lenders; !slices.Equal(got, []int{2, 3}) {
		t.Errorf("others attend to the keys of the layers %v, want 2 and 3", got)
	}
}

// zeroScale returns a file in which the factor of a layer is 0.
func zeroScale(t *testing.T, data []byte) []byte {
	data = slices.Clone(data)
	file, err := weights.Parse(sharedKeys, data)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := file.Tensor("blk.2.layer_output_scale.weight")
	if err != nil {
		t.Fatal(err)
	}
	clear(w.Data) // part of data
	return data
}
