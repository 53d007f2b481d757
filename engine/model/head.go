package model

import (
	"context"
	"fmt"

	"specula/engine/weights/safetensors"
)

// maxPadding is the largest allowed difference between the lengths of two vocabularies. Files pad
// vocabularies with rows that stand for no token.
const maxPadding = 1024

// Head is a loaded file of heads, or the head in a target's file. One of Layer, Medusa and Assistant is set.
type Head struct {
	Layer      *LayerHead
	Medusa     *Medusa
	Assistant  *Assistant
	Name       string // name of the proposer that uses the head: "eagle", "medusa" or "mtp"
	Kind       string // what to display: "EAGLE", "EAGLE-3", "MTP", "Medusa" or "Gemma 4 assistant", some with details
	Parameters int64
	Bytes      int64
}

// LoadHead recognises the kind of head by the names of the file's tensors, and loads it for a target.
// The backend may use the file's data without a copy. The error says what is missing or does not fit
// the target.
func LoadHead(ctx context.Context, target *Model, file *safetensors.File) (head *Head, err error) {
	c, err := readHeadConfig(file)
	if err != nil {
		return nil, err
	}
	h := &headTensors{ctx: ctx, backend: target.backend, file: file, taken: map[string]bool{}}
	head = &Head{}
	switch {
	case h.has("0.0.linear.weight", "blocks.0.layers.0.weight"):
		if head.Medusa, err = loadMedusa(h, target, c); err == nil {
			head.Name, head.Kind = "medusa", fmt.Sprintf("Medusa, %d heads", head.Medusa.Heads())
		}
	case h.has("fc.weight"):
		if head.Layer, err = loadEagle(h, target, c); err == nil {
			head.Name, head.Kind = "eagle", head.Layer.kind()
		}
	case h.err != nil:
		err = h.err
	default:
		err = fmt.Errorf("%q is no head of a known kind: EAGLE has a tensor \"fc.weight\", Medusa \"0.0.linear.weight\"", file.Name())
	}
	if err != nil {
		return nil, err
	}
	head.Parameters, head.Bytes = h.numbers, h.bytes
	return head, nil
}

// ParametersPerToken returns how many weights are read to draft one token. The output matrix is counted,
// even if it is the target's. The embedding table is not counted.
func (h *Head) ParametersPerToken() int64 {
	if h.Medusa != nil {
		return h.Medusa.parametersPerToken()
	}
	if h.Assistant != nil {
		return h.Parameters
	}
	e, n := h.Layer, h.Parameters
	if read := e.layer.config.ReadBy(1); e.layer.config.Experts.Experts > 0 {
		n -= e.layer.config.Parameters - read // a token uses only some experts
	}
	if e.embedding != e.target.Embedding {
		n -= int64(e.embedding.Rows()) * int64(e.embedding.Cols())
	}
	if e.output == e.target.Output {
		n += int64(e.output.Rows()) * int64(e.output.Cols())
	}
	return n
}

// fitsVocabulary checks that logits over this many ids can be read as logits of the target.
func fitsVocabulary(file *safetensors.File, ids, target int) error {
	if d := ids - target; d > maxPadding || d < -maxPadding {
		return fmt.Errorf("%q guesses among %d tokens, and the target has %d: it was made for another model", file.Name(), ids, target)
	}
	return nil
}
