package model

import (
	"context"
	"fmt"
	"strings"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
	"specula/engine/weights/safetensors"
)

// headTensors loads the tensors of a head by any of their published names. It keeps the first error.
type headTensors struct {
	ctx     context.Context
	backend compute.Backend
	file    *safetensors.File
	taken   map[string]bool // the names of the loaded tensors
	bytes   int64           // size of the loaded tensors in the file
	numbers int64           // how many numbers the loaded tensors have
	err     error
}

// prefixes are put before all names by some libraries.
var prefixes = []string{"", "model.", "medusa_head.", "medusa_heads.", "heads."}

// find looks up a tensor by any of its names.
func (h *headTensors) find(names ...string) (compute.Weight, bool) {
	for _, name := range names {
		for _, prefix := range prefixes {
			w, found, err := h.file.Tensor(prefix + name)
			if err != nil && h.err == nil {
				h.err = err
			}
			if found {
				return w, err == nil
			}
		}
	}
	return compute.Weight{}, false
}

// has reports whether there is a tensor with one of the names.
func (h *headTensors) has(names ...string) bool {
	_, found := h.find(names...)
	return found
}

// weight finds a tensor of a given shape. 0 for rows or cols means any number.
func (h *headTensors) weight(rows, cols int, need need, names ...string) (compute.Weight, bool) {
	w, found := h.find(names...)
	switch {
	case h.err != nil:
	case !found && need == required:
		h.err = fmt.Errorf("the tensor %q is missing in %q", names[0], h.file.Name())
	case !found:
	case rows != 0 && w.Rows != rows, cols != 0 && w.Cols != cols:
		h.err = fmt.Errorf("the tensor %q of %q has shape %s; allowed is %s", w.Name, h.file.Name(), times([]int{w.Rows, w.Cols}), times([]int{rows, cols}))
	default:
		h.taken[w.Name] = true
		return w, true
	}
	return w, false
}

func (h *headTensors) matrix(rows, cols int, need need, names ...string) (m compute.Matrix) {
	w, found := h.weight(rows, cols, need, names...)
	if !found {
		return nil
	}
	m, err := h.backend.Matrix(h.ctx, w)
	if err != nil {
		h.err = fmt.Errorf("loading the tensor %q: %w", w.Name, err)
	}
	h.bytes += int64(len(w.Data))
	h.numbers += int64(w.Rows) * int64(w.Cols)
	return m
}

func (h *headTensors) vector(length int, need need, names ...string) (v compute.Vector) {
	w, found := h.weight(1, length, need, names...)
	if !found {
		return nil
	}
	floats, err := gguf.Decode(w.Type, w.Data)
	if err == nil {
		v, err = h.backend.Vector(w.Name, floats)
	}
	if err != nil {
		h.err = fmt.Errorf("loading the tensor %q: %w", w.Name, err)
	}
	h.bytes += int64(len(w.Data))
	h.numbers += int64(length)
	return v
}

// ignored are the endings of names that leftover lets pass. mapVocabulary reads d2t, and t2d says the same
// as d2t. For embed_tokens.weight the target's table can stand, and rope_theta gives inv_freq.
var ignored = []string{"d2t", "t2d", "embed_tokens.weight", "rotary_emb.inv_freq"}

// leftover returns the first error so far. Without one, it refuses a file with a tensor that was not
// used and is not in ignored. The head would draft badly without that tensor, and nobody would know
// why.
func (h *headTensors) leftover() error {
	if h.err != nil {
		return h.err
	}
	for _, t := range h.file.Tensors() {
		known := h.taken[t.Name]
		for _, name := range ignored {
			known = known || strings.HasSuffix(t.Name, name)
		}
		if !known {
			return fmt.Errorf("the tensor %.64q of %q has no place in a head of this kind: the file is a variant that is not supported", t.Name, h.file.Name())
		}
	}
	return nil
}
