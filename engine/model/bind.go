package model

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"specula/engine/compute"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// binding joins a tensor of the file to the field whose tag names it.
type binding struct {
	weight compute.Weight
	field  reflect.Value // a compute.Matrix, compute.Vector or []float32
}

// binder collects and checks all bindings of a model before the backend loads any of them.
type binder struct {
	file     *weights.File
	arch     architecture
	sizes    map[string]int
	bindings []binding
}

// collect binds the tagged fields of the struct that target points to.
func (b *binder) collect(target any, layer int) error {
	value := reflect.ValueOf(target).Elem()
	for i := range value.NumField() {
		tag := value.Type().Field(i).Tag
		name := strings.ReplaceAll(tag.Get("gguf"), "%d", fmt.Sprint(layer))
		shape := b.shape(tag.Get("shape"))
		need := b.arch.needs()[tag.Get("need")]
		if need == absent {
			continue
		}
		weight, found, err := b.file.Tensor(name)
		switch {
		case err != nil:
			return err
		case !found && need == optional:
			continue
		case !found:
			return fmt.Errorf("the tensor %q is missing; a %s model needs it with shape %s", name, b.arch.name, times(shape))
		case !fits(weight, shape):
			return fmt.Errorf("the tensor %q has shape %s; a %s model of these hyperparameters needs %s",
				name, times([]int{weight.Rows, weight.Cols}), b.arch.name, times(shape))
		}
		b.bindings = append(b.bindings, binding{weight, value.Field(i)})
	}
	return nil
}

// shape translates the tag shape, "rows,cols" or "length", into numbers.
func (b *binder) shape(tag string) []int {
	var shape []int
	for name := range strings.SplitSeq(tag, ",") {
		shape = append(shape, b.sizes[name])
	}
	return shape
}

func fits(w compute.Weight, shape []int) bool {
	if len(shape) == 1 {
		return w.Rows == 1 && w.Cols == shape[0]
	}
	return w.Rows == shape[0] && w.Cols == shape[1]
}

func times(shape []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", " × "), "[]")
}

// leftover refuses a file with tensors that the pass would ignore. Its text would be wrong, and
// nothing would show it.
func (b *binder) leftover() error {
	bound := make(map[string]bool, len(b.bindings))
	for _, binding := range b.bindings {
		bound[binding.weight.Name] = true
	}
	for _, t := range b.file.Tensors() {
		if !bound[t.Name] {
			return fmt.Errorf("the tensor %.64q has no place in a %s model of these hyperparameters: the file is a variant that is not supported",
				t.Name, b.arch.name)
		}
	}
	return nil
}

// describe sums up the size and type of the weights.
func (b *binder) describe(c *Config) {
	bytesOf := map[compute.DType]int64{}
	var most compute.DType
	for _, binding := range b.bindings {
		w := binding.weight
		c.Parameters += int64(w.Rows) * int64(w.Cols)
		c.WeightBytes += int64(len(w.Data))
		bytesOf[w.Type] += int64(len(w.Data))
		if bytesOf[w.Type] > bytesOf[most] {
			most = w.Type
		}
	}
	c.WeightType = gguf.TypeName(most)
}

// take gives every bound tensor to the backend and returns the matrices.
func (b *binder) take(ctx context.Context, backend compute.Backend, total int64, progress func(done, total int64)) (matrices []Matrix, err error) {
	var done int64
	for _, binding := range b.bindings {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		weigher, ok := backend.(weigher)
		copied := ok && weigher.MatrixBytes(binding.weight) > 0 && binding.field.Type() == reflect.TypeFor[compute.Matrix]()
		if name := binding.weight.Name; copied { // the backend makes a copy in a form of its own
			binding.weight.Done = func(from, to int) { b.file.ReleasePart(name, from, to) }
		}
		taken, err := takeIn(ctx, backend, binding)
		if err != nil {
			return nil, fmt.Errorf("taking in the tensor %q: %w", binding.weight.Name, err)
		}
		binding.field.Set(reflect.ValueOf(taken))
		if matrix, ok := taken.(compute.Matrix); ok {
			matrices = append(matrices, Matrix{matrix, gguf.TypeName(binding.weight.Type), int64(len(binding.weight.Data))})
		}
		if copied {
			b.file.Release(binding.weight.Name)
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
