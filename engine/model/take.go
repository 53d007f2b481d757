package model

import (
	"context"
	"fmt"
	"reflect"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

// gather copies the rows of an interleaved weight, so that they follow each other.
func (b *binding) gather() {
	rows := make([]byte, 0, len(b.weight.Data))
	for at := 0; at < len(b.whole); at += b.every {
		rows = append(rows, b.whole[at:at+b.group]...)
	}
	b.weight.Data, b.whole = rows, nil
}

// take gives every bound tensor to the backend. It returns the matrices that a pass multiplies by as a
// whole: no tables, and no tensors of several matrices (Weight.Experts).
func (b *binder) take(ctx context.Context, backend compute.Backend, total int64, progress func(done, total int64)) (matrices []Matrix, err error) {
	var done int64
	left := map[string]int{} // parts of a tensor that are not loaded yet
	for _, binding := range b.bindings {
		left[binding.tensor]++
	}
	for _, binding := range b.bindings {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		weigher, ok := backend.(weigher)
		interleaved := binding.group > 0
		if interleaved {
			binding.gather()
		}
		copied := ok && !interleaved && weigher.MatrixBytes(binding.weight) > 0 && binding.field.Type() == reflect.TypeFor[compute.Matrix]()
		if copied { // the backend makes a copy in its own layout
			binding.weight.Done = func(from, to int) { b.file.ReleasePart(binding.tensor, binding.at+from, binding.at+to) }
		}
		taken, err := takeIn(ctx, backend, binding)
		if err != nil {
			return nil, fmt.Errorf("loading the tensor %q: %w", binding.weight.Name, err)
		}
		binding.field.Set(reflect.ValueOf(taken))
		if matrix, ok := taken.(compute.Matrix); ok && binding.weight.Experts == 0 && !binding.lookup { // a pass reads only some experts, and heads with a matrix each are several products
			matrices = append(matrices, Matrix{matrix, binding.weight.Type, int64(len(binding.weight.Data))})
		}
		if left[binding.tensor]--; (copied || interleaved) && left[binding.tensor] == 0 {
			b.file.Release(binding.tensor)
		}
		done += int64(len(binding.weight.Data))
		if progress != nil {
			progress(done, total)
		}
	}
	return matrices, nil
}

func takeIn(ctx context.Context, backend compute.Backend, b binding) (any, error) {
	if b.field.Type() == reflect.TypeFor[compute.Matrix]() {
		return backend.Matrix(ctx, b.weight)
	}
	floats, err := gguf.Decode(b.weight.Type, b.weight.Data)
	if err != nil || b.field.Type() == reflect.TypeFor[[]float32]() {
		return floats, err
	}
	return backend.Vector(b.weight.Name, floats)
}
