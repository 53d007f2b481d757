package folder

import (
	"context"
	"fmt"
	"io"
	"strings"

	"specula/engine/compute"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// Tensor says how a tensor of a GGUF file is made from those of the folder.
type Tensor struct {
	Name    string    // name of the tensor in the GGUF file
	From    []string  // names of tensors in the folder; the rows of several tensors follow each other
	Numbers []float32 // the content, if it does not come from the folder; then From is empty
	PlusOne bool      // 1 is added to each number
	// Heads, if not 0, is the number of heads whose rows are reordered: of the n rows of a head, rows i
	// and i+n/2 become rows 2i and 2i+1.
	Heads int
}

// layout is a Tensor whose sources were checked.
type layout struct {
	Tensor
	parts      []part
	typ        compute.DType // type of the tensor in the GGUF file
	rows, cols int
}

// part is a tensor of the folder.
type part struct {
	place
	rows  int
	scale *scale // factors of the blocks of an FP8 tensor; nil for other types
}

// Lay makes the GGUF file of these metadata and tensors, with the tensors in the given order; if fill
// is false, only the header of that file. called takes the name of a tensor in the GGUF file and returns
// its name in the folder. Norms to which 1 is added become F32, and FP8 becomes BF16; all other tensors keep
// their type.
func (f *Folder) Lay(ctx context.Context, metadata *gguf.Builder, tensors []Tensor, called func(string) string, fill bool,
	progress func(done, total int64)) (*weights.File, error) {
	layouts := map[string]layout{}
	for _, t := range tensors {
		l, err := f.layout(t)
		if err != nil {
			return nil, err
		}
		if _, twice := layouts[t.Name]; twice {
			return nil, fmt.Errorf("reading the folder %q: two tensors are %.64q, %.64q is one of them: %w", f.path, t.Name, t.From, weights.ErrMalformed)
		}
		layouts[t.Name] = l
		dims := []uint64{uint64(l.cols)}
		if l.rows > 1 || len(l.parts) > 0 && len(l.parts[0].tensor.Shape) > 1 {
			dims = append(dims, uint64(l.rows))
		}
		metadata.Stream(t.Name, l.typ, nil, dims...)
	}
	a := weights.Assembly{Name: f.path, Format: "safetensors", Files: len(f.shards), Size: f.sizes, Called: called}
	a.Header, a.Bytes = metadata.Header()
	if fill {
		a.Fill = func(ctx context.Context, name string, data []byte) error { return f.fill(ctx, layouts[name], data) }
	}
	return weights.Assemble(ctx, a, progress)
}

// layout checks the sources of a tensor, and decides its shape and type. A vector is one row; several
// vectors are the rows of a matrix.
func (f *Folder) layout(t Tensor) (layout, error) {
	l := layout{Tensor: t, typ: compute.F32, rows: 1, cols: len(t.Numbers)}
	for i, name := range t.From {
		at, found := f.where[name]
		if !found {
			return l, fmt.Errorf("reading the folder %q: the tensor %.64q is missing: %w", f.path, name, weights.ErrMalformed)
		}
		shape := at.tensor.Shape
		if len(shape) < 1 || len(shape) > 2 || at.elements() == 0 {
			return l, f.refuse(at, fmt.Sprintf("shape %v", shape), "one or two dimensions, none of them 0")
		}
		p := part{place: at, rows: int(at.elements() / shape[len(shape)-1])}
		typ, err := f.typeOf(&p)
		if err != nil {
			return l, err
		}
		if cols := int(shape[len(shape)-1]); i == 0 {
			l.typ, l.rows, l.cols = typ, 0, cols
		} else if cols != l.cols || typ != l.typ {
			return l, f.refuse(at, fmt.Sprintf("rows of %d numbers, and %s", cols, gguf.TypeName(typ)),
				fmt.Sprintf("%d and %s, as those of %.64q", l.cols, gguf.TypeName(l.typ), t.From[0]))
		}
		l.rows += p.rows
		l.parts = append(l.parts, p)
	}
	if t.PlusOne {
		l.typ = compute.F32
	}
	if turned := l.turned(); t.Heads > 0 && turned%(2*t.Heads) != 0 {
		return l, f.refuse(l.parts[0].place, fmt.Sprintf("%d rows", turned), fmt.Sprintf("a multiple of %d, two for each of %d heads", 2*t.Heads, t.Heads))
	}
	return l, nil
}

// turned is how many rows, or numbers of a vector, interleave must reorder.
func (l *layout) turned() int {
	if len(l.parts) == 1 && len(l.parts[0].tensor.Shape) == 1 {
		return l.cols
	}
	return l.rows
}

func (p place) elements() int64 {
	n := int64(1)
	for _, d := range p.tensor.Shape {
		n *= d // cannot overflow: checked when the header was read
	}
	return n
}

func (f *Folder) refuse(at place, got, allowed string) error {
	return fmt.Errorf("reading %q: tensor %.64q: got %s, allowed %s: %w", at.shard.Name(), at.tensor.Name, got, allowed, weights.ErrMalformed)
}

// typeOf returns the type that a tensor has in the GGUF file.
func (f *Folder) typeOf(p *part) (compute.DType, error) {
	switch p.tensor.Type {
	case "F32":
		return compute.F32, nil
	case "F16":
		return compute.F16, nil
	case "BF16":
		return compute.BF16, nil
	case "F8_E4M3":
		var err error
		p.scale, err = f.findScale(p)
		return compute.BF16, err
	}
	return 0, f.refuse(p.place, "type "+p.tensor.Type, "F32, F16, BF16, and F8_E4M3 with a scale")
}

// fill writes the data of a tensor.
func (f *Folder) fill(ctx context.Context, l layout, data []byte) error {
	if l.parts == nil {
		copy(data, gguf.Encode(compute.F32, l.Numbers))
		return nil
	}
	at := 0
	for _, p := range l.parts {
		size := len(data) / l.rows * p.rows
		if err := f.fillPart(ctx, l, p, data[at:at+size]); err != nil {
			return err
		}
		at += size
	}
	if l.Heads > 0 {
		interleave(data, l.turned(), l.Heads)
	}
	return nil
}

func (f *Folder) fillPart(ctx context.Context, l layout, p part, data []byte) error {
	if !l.PlusOne && p.scale == nil {
		return f.load(ctx, p.place, data)
	}
	stored, err := f.loaded(ctx, p.place)
	if err != nil {
		return err
	}
	if p.scale != nil {
		return f.scaled(ctx, p, stored, l.cols, data)
	}
	typ, err := f.typeOf(&p)
	if err != nil {
		return err
	}
	numbers, err := gguf.Decode(typ, stored)
	for i := range numbers {
		numbers[i]++
	}
	copy(data, gguf.Encode(compute.F32, numbers))
	return err
}

// interleave reorders rows: of the n rows of a head, rows i and i+n/2 become rows 2i and 2i+1.
func interleave(data []byte, rows, heads int) {
	each, n := len(data)/rows, rows/heads
	old := make([]byte, n*each)
	for head := range heads {
		part := data[head*n*each:][:n*each]
		copy(old, part)
		for i := range n / 2 {
			copy(part[2*i*each:][:each], old[i*each:])
			copy(part[(2*i+1)*each:][:each], old[(i+n/2)*each:])
		}
	}
}

func (f *Folder) loaded(ctx context.Context, at place) ([]byte, error) {
	_, bytes := at.shard.Span(at.tensor)
	data := make([]byte, bytes)
	return data, f.load(ctx, at, data)
}

// load reads the bytes of a tensor.
func (f *Folder) load(ctx context.Context, at place, data []byte) error {
	return weights.WithFile(at.shard.Name(), func(src io.ReaderAt, _ int64) error {
		from, _ := at.shard.Span(at.tensor)
		if err := weights.ReadFull(ctx, src, data, from, nil); err != nil {
			return fmt.Errorf("reading %q: tensor %.64q: %w", at.shard.Name(), at.tensor.Name, err)
		}
		return nil
	})
}

// Aside reports whether a tensor is no part of the GGUF file: it has the factors of another tensor, or numbers
// that the program computes itself or does not use.
func (f *Folder) Aside(tensor string) bool {
	for _, suffix := range scaleSuffixes {
		if of, is := strings.CutSuffix(tensor, suffix); is && f.Has(of) {
			return true
		}
	}
	// An input_scale would round activations to FP8, which this program does not do.
	for _, suffix := range []string{".input_scale", ".rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias"} {
		if strings.HasSuffix(tensor, suffix) {
			return true
		}
	}
	return false
}
