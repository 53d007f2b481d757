// Package model is the transformer, written once against package compute.
//
// It is the decoder of Llama, Qwen, Gemma and other families. Read forward.go first: it has the steps
// in order. Each layer adds to the residual stream the output of attention over the tokens so far, and
// then the output of a feed-forward network. architecture.go describes how the families differ.
// tensors.go names each weight's tensor in its struct tag. load.go checks a file and loads it. Other
// packages call Model.Forward and Model.Prefill.
//
// One pass takes m tokens, appends m rows to the cache and returns m rows of logits. A decode step
// has one row. Verifying a draft of γ tokens takes γ+1 rows. Prefill takes as many passes as it
// needs, and returns one row of logits. All three run the same code and give a row the same bits: the
// law of package compute.
//
// A pass can copy hidden states to a tap on the device (tap.go). Heads trained for a model draft from
// them: a layer of EAGLE or MTP (layerhead.go) and the drafter of Gemma 4 (assistant.go), which use the
// attention and feed-forward code of this package, and the small networks of Medusa (medusa.go).
package model

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/compute"
)

// ErrContextFull means that a cache has no room for the tokens of a pass.
var ErrContextFull = errors.New("the context is full")

// Model is a loaded transformer. Only one goroutine may use it at a time; it can work on several
// caches in turn.
type Model struct {
	parameters
	perLayerTables
	joints
	layers      []layer
	backend     compute.Backend
	arch        architecture
	config      Config
	ones        compute.Vector // weights of the norm of embeddings; nil: no such norm
	activations activations
	pass        pass
	ids         []int32 // tokens of all parts of a pass, one part after the other
	perLayerIDs []int32 // rows of PerLayerTable that a pass looks up: those of all its tokens, layer by layer
	matrices    []Matrix
	tap         *compute.Tap    // where passes leave hidden states; nil: nowhere
	routing     compute.Routing // nil: there are no experts
	headChoice  compute.Routing // which matrix each head uses, if keys and values are compressed; otherwise nil
	mtp         inFile          // the head in the model's own file
}

// Matrix is a weight matrix of a model, as the backend holds it.
type Matrix struct {
	Taken compute.Matrix
	Type  compute.DType // type in the file
	Bytes int64         // size in the file
}

// activations are the buffers of a pass. Each comment says what a row holds, and how many columns the buffer
// has, in the names of Config. The buffers have PrefillRows rows; scores has MaxRows.
type activations struct {
	residual compute.Buffer // the residual stream; Dim columns
	normed   compute.Buffer // the norm of the residual stream; Dim columns
	output   compute.Buffer // what attention or the feed-forward network adds to the residual stream; Dim columns
	scores   compute.Buffer // the logits; Vocab columns

	// The next buffers are for experts. A slot is the place of a row with one of its experts (compute.Mixer).
	// The buffers of slots have PrefillRows·Used rows, one for each slot.
	routing      compute.Buffer // the router's scores; Experts columns
	slotGate     compute.Buffer // gate of the slot's expert; if experts have no gate, what slotUp would have; ExpertFFN columns
	slotUp       compute.Buffer // what the slot's gate multiplies; ExpertFFN columns
	slotOutput   compute.Buffer // output of the slot's expert; ExpertDim columns
	narrow       compute.Buffer // input and then output of experts that are narrower than the residual stream; ExpertDim columns
	beside       compute.Buffer // what the dense network beside experts adds; Dim columns
	sharedGate   compute.Buffer // gate of the expert that all rows use; without a gate, what sharedUp would have; SharedFFN columns
	sharedUp     compute.Buffer // what sharedGate multiplies; SharedFFN columns
	sharedOutput compute.Buffer // output of the expert that all rows use; Dim columns
	sharedFactor compute.Buffer // one column: σ of its number multiplies sharedOutput

	perLayer compute.Buffer // a layer's own embedding after its gate; PerLayer columns

	// The rest is for compressed keys and values. Plain, Turned, Dim, Value and QueryDim are those of Config.Latent.
	// Four of the buffers have a row for each head of each row.
	queryShort   compute.Buffer // compressed queries; QueryDim columns
	queryPlain   compute.Buffer // numbers of the queries that RoPE does not rotate; heads·Plain columns
	queryTurned  compute.Buffer // numbers of the queries that RoPE rotates; heads·Turned columns
	keyTurned    compute.Buffer // numbers of the keys that RoPE rotates; Turned columns
	headProducts compute.Buffer // a row for each head: the query times the head's matrix, in the order of the slots; Dim columns
	headQueries  compute.Buffer // a row for each head: the numbers of headProducts in the order of the rows; Dim columns
	headValues   compute.Buffer // a row for each head: values, in the order of the slots; Value columns
	mixed        compute.Buffer // the numbers of headValues in the order of the rows; heads·Value columns
	chosenHeads  compute.Buffer // a row for each head: scores by which the router chooses the head's matrix; one column for each head
}

// layerBuffers are the buffers of a pass whose widths depend on the layer. They have PrefillRows rows. The
// comments give the number of columns in the names of layerShape.
type layerBuffers struct {
	query         compute.Buffer // heads·keyDim columns
	key           compute.Buffer // kvHeads·keyDim columns; nil if keys and values are those of another layer
	value         compute.Buffer // kvHeads·valueDim columns; nil if key is nil
	attended      compute.Buffer // output of attention; heads·valueDim columns
	attentionGate compute.Buffer // the gate of attended, later their product; heads·valueDim columns; nil where attention has no gate
	gate, up      compute.Buffer // of the feed-forward network; ffn columns

	// The rest is for layers with a state. Its sizes are those of layerShape.state.
	mixed       compute.Buffer // inputs of the state, side by side: Width columns, for a short convolution 3·Width
	alpha, beta compute.Buffer // inputs of decay and update; one column for each head of the state
	stateGate   compute.Buffer // the gate of answered, later their product; Heads·ValueDim columns
	answered    compute.Buffer // what the state gives; Heads·ValueDim columns
}

// postNormEps returns the epsilon of the norms after attention and feed-forward network.
func (m *Model) postNormEps() float64 {
	if m.arch.postNormEps > 0 {
		return m.arch.postNormEps
	}
	return m.config.NormEps
}

// Config returns the shape of the model.
func (m *Model) Config() Config { return m.config }

// Matrices lists the weight matrices, so that their products can be timed. It leaves out PerLayerTable and
// the matrices of experts, because how much of these a pass reads depends on its rows. It also leaves out
// the matrices of single heads (latent): MatMulExperts multiplies with them, after a choice of the matrix
// for each row, and MatMul cannot. So bench --kernels times no product of experts or of single heads alone;
// its times of whole passes include them.
func (m *Model) Matrices() []Matrix { return m.matrices }

// NewCache makes an empty cache for MaxTokens tokens.
func (m *Model) NewCache() (compute.Cache, error) {
	cache, err := m.backend.Cache(m.cacheShape(m.config.MaxTokens))
	if err != nil {
		return nil, fmt.Errorf("making a cache of %d tokens: %w", m.config.MaxTokens, err)
	}
	return cache, nil
}

// Forward appends tokens to the cache, 1 ≤ len(ids) ≤ MaxRows, and returns one row of logits per
// token. On any error, cancellation included, the cache keeps its length. If the tokens do not fit,
// the error wraps ErrContextFull.
func (m *Model) Forward(ctx context.Context, cache compute.Cache, ids []int32) (compute.Logits, error) {
	return m.ForwardParts(ctx, Part{cache, ids})
}

// Part is one sequence of a pass: a cache, and the tokens to append to it.
type Part struct {
	Cache compute.Cache
	IDs   []int32
}

// ForwardParts is Forward for several sequences in one pass, which reads the weights only once. No two
// parts may have the same cache. The logits have the rows of the first part, then those of the second,
// and so on. All parts together may have at most MaxRows tokens.
func (m *Model) ForwardParts(ctx context.Context, parts ...Part) (compute.Logits, error) {
	rows := 0
	for _, part := range parts {
		rows += len(part.IDs)
	}
	if rows < 1 || rows > m.config.MaxRows {
		return nil, fmt.Errorf("a pass over %d tokens: allowed are 1 to %d", rows, m.config.MaxRows)
	}
	for i, part := range parts {
		if len(part.IDs) == 0 {
			return nil, fmt.Errorf("a pass over %d sequences: that at %d has no tokens", len(parts), i)
		}
		if err := m.check(part.Cache, part.IDs); err != nil {
			return nil, err
		}
	}
	if err := m.layersOver(ctx, parts...); err != nil {
		return nil, err
	}
	logits, err := m.score(rows)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		err = errors.Join(err, part.Cache.Advance(len(part.IDs)))
	}
	return logits, err
}

// Prefill appends any number of tokens to the cache, PrefillRows at a time, and returns one row of
// logits, for the last token. It tells progress, which may be nil, how many tokens are done. On an
// error, cancellation included, the cache keeps the tokens of the passes that were completed. Without
// tokens Prefill returns an error.
func (m *Model) Prefill(ctx context.Context, cache compute.Cache, ids []int32, progress func(done, total int)) (compute.Logits, error) {
	if len(ids) == 0 {
		return nil, errors.New("prefill of no tokens: there is nothing to give scores for")
	}
	if err := m.check(cache, ids); err != nil {
		return nil, err
	}
	for done := 0; ; {
		chunk := ids[done:min(done+m.config.PrefillRows, len(ids))]
		if err := m.layersOver(ctx, Part{cache, chunk}); err != nil {
			return nil, err
		}
		done += len(chunk)
		if done == len(ids) {
			return m.finishPrefill(cache, len(chunk), done, progress)
		}
		if err := cache.Advance(len(chunk)); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(done, len(ids))
		}
	}
}

// finishPrefill computes the logits of the last row, after a pass over the given number of rows.
func (m *Model) finishPrefill(cache compute.Cache, rows, total int, progress func(done, total int)) (compute.Logits, error) {
	if err := m.lastRowFirst(rows); err != nil {
		return nil, err
	}
	logits, err := m.score(1)
	if err != nil {
		return nil, err
	}
	if err := cache.Advance(rows); err != nil {
		return nil, err
	}
	if progress != nil {
		progress(total, total)
	}
	return logits, nil
}

// lastRowFirst copies the last row of the residual stream to row 0. The stream has as many rows as the
// parameter rows says; the others are not needed any more.
func (m *Model) lastRowFirst(rows int) error {
	if rows == 1 {
		return nil
	}
	a := &m.activations
	return m.backend.Copy(a.residual, a.residual, 1, compute.Block{From: rows - 1})
}

// check refuses tokens that do not fit or do not exist, before anything is computed.
func (m *Model) check(cache compute.Cache, ids []int32) error {
	if free := cache.Cap() - cache.Len(); len(ids) > free {
		return fmt.Errorf("%w: %d more tokens do not fit after %d of %d", ErrContextFull, len(ids), cache.Len(), cache.Cap())
	}
	for i, id := range ids {
		if id < 0 || int(id) >= m.config.Vocab {
			return fmt.Errorf("token %d at %d is outside the vocabulary of %d", id, i, m.config.Vocab)
		}
	}
	return nil
}
