package model_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"specula/engine/model"
	"specula/engine/weights"
)

// Embeddings that layers have for themselves are looked up: a pass does not read the table, and no
// product with it is timed.
func TestPerLayerEmbeddingsAreLookedUp(t *testing.T) {
	f := &fixture{name: "gemma4-embeddings"}
	m := f.open(t, newBackend(t, 1), model.Options{MaxTokens: 32})
	c := m.Config()
	if want := int64(64 * 5 * 6); c.PerLayer != 6 || c.LookedUp != want || c.ReadBy(1) != c.Parameters-want {
		t.Errorf("%d numbers for each layer, %d parameters of %d in tables, one row reads %d", c.PerLayer, c.LookedUp, c.Parameters, c.ReadBy(1))
	}
	for _, matrix := range m.Matrices() {
		if matrix.Taken == m.PerLayerTable {
			t.Error("the table is among the matrices of products")
		}
	}
}

// A view (a model without some layers) of a model with embeddings for each layer gives a row the same bits alone and
// among others.
func TestViewsHavePerLayerEmbeddings(t *testing.T) {
	f := &fixture{name: "gemma4-embeddings"}
	m := f.open(t, newBackend(t, 1), model.Options{MaxTokens: 32, MaxRows: 8})
	view, err := m.Without([]int{0, 3})
	if err != nil {
		t.Fatal(err)
	}
	ids := randomIDs(8, m.Config().Vocab, 6)
	logits, err := view.Prefill(context.Background(), newCache(t, view), ids, nil)
	if err != nil {
		t.Fatal(err)
	}
	together, cache := scoresOf(t, logits), newCache(t, view)
	for _, id := range ids {
		if logits, err = view.Forward(context.Background(), cache, []int32{id}); err != nil {
			t.Fatal(err)
		}
	}
	sameRows(t, "token by token", scoresOf(t, logits), together)
}

// In a view, a layer looks up its own embeddings: those of a layer that was left out change nothing.
func TestViewsLookUpTheRightLayer(t *testing.T) {
	const name, layers, each = "gemma4-embeddings", 5, 6 * 4 // bytes of a layer's embedding
	f := &fixture{name: name}
	data := slices.Clone(f.data(t))
	file, err := weights.Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	table, _, err := file.Tensor("per_layer_token_embd.weight")
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(table.Data); at += layers * each {
		clear(table.Data[at : at+each])
	}
	backend, o := newBackend(t, 1), model.Options{MaxTokens: 32}
	other, err := model.Load(context.Background(), backend, file, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all, cut [2][][]float32
	for i, m := range []*model.Model{f.open(t, backend, o), other} {
		view, err := m.Without([]int{0})
		if err != nil {
			t.Fatal(err)
		}
		for to, m := range map[*[][]float32]*model.Model{&all[i]: m, &cut[i]: view} {
			logits, err := m.Prefill(context.Background(), newCache(t, m), randomIDs(8, m.Config().Vocab, 6), nil)
			if err != nil {
				t.Fatal(err)
			}
			*to = scoresOf(t, logits)
		}
	}
	sameRows(t, "without layer 0", cut[0], cut[1])
	if slices.Equal(all[0][0], all[1][0]) {
		t.Error("the embeddings of layer 0 change nothing in the whole model")
	}
}

// Files with tensors of Gemma 4 that do not fit are refused, with the tensor and both shapes.
func TestMalformedGemma4(t *testing.T) {
	data := func(name string) []byte { return (&fixture{name: name}).data(t) }
	renamed := func(name, tensor, other string) []byte {
		return bytes.Replace(data(name), []byte(tensor), []byte(other), 1)
	}
	for want, file := range map[string][]byte{
		"per_layer_token_embd.weight\" has shape 64 × 30; a gemma4 model of these hyperparameters needs 64 × 35": withUint32(
			data("gemma4-embeddings"), "gemma4.embedding_length_per_layer_input", 7),
		"per_layer_model_proj.weight, part 0\" is missing": renamed("gemma4-embeddings", "per_layer_model_proj", "per_layer_model_prox"),
		"inp_gate.weight\" is missing":                     renamed("gemma4-embeddings", "blk.1.inp_gate", "blk.1.inp_gatx"),
		"ffn_gate_up_exps.weight\" has 288 rows; a gemma4 model of these hyperparameters needs 276": withUint32(
			data("gemma4-experts"), "gemma4.expert_feed_forward_length", 23),
		"ffn_gate_inp.scale\" is missing": renamed("gemma4-experts", "blk.2.ffn_gate_inp.scale", "blk.2.ffn_gate_inp.scalx"),
	} {
		f, err := weights.Parse("gemma4", file)
		if err == nil {
			_, err = model.Load(context.Background(), newBackend(t, 1), f, model.Options{MaxTokens: 32}, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}
