package weights

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"specula/engine/weights/gguf"
)

// Report describes a model file to a person. Text from the file is cut to 64 bytes and escaped as
// in Go source; in the lists Metadata and Tensors it is also quoted.
type Report struct {
	Name          string
	Format        string // such as "GGUF v3"
	Architecture  string
	ModelName     string
	Parts         int   // files that the model was read from
	FileBytes     int64 // size of all parts together
	SpareBytes    int64 // bytes after the last tensor: padding, or data that no reader uses
	Parameters    int64 // elements of all tensors
	ByType        []TypeTotal
	Unsupported   []string // tensor types in the file that specula does not compute with
	ContextLength uint64   // tokens the model was trained for; 0 if the file does not say
	VocabSize     uint64   // tokens; 0 without a vocabulary
	Tokenizer     string   // such as "gpt2, pre-tokenizer qwen2"; "" without a vocabulary
	TemplateHash  string   // SHA-256 of the chat template, in hex; "" without one
	Metadata      []MetadataLine
	Tensors       []TensorLine
}

// TypeTotal sums up the tensors of one type. Report.ByType lists the types in the order in which they first
// occur.
type TypeTotal struct {
	Type     string
	Tensors  int
	Elements int64
	Bytes    int64
}

// MetadataLine is one metadata value. Long texts and arrays are cut.
type MetadataLine struct {
	Key   string
	Type  string // such as "u32" or "array of string"
	Value string
}

// TensorLine is one tensor.
type TensorLine struct {
	Name  string
	Type  string
	Shape []int64 // the contiguous dimension first
	Bytes int64
}

// Describe sums up a file. It also works for files read by OpenHeader.
func Describe(f *File) Report {
	r := Report{
		Name: f.name, Format: f.Format(), Architecture: escape(f.Architecture()), ModelName: escape(f.ModelName()),
		Parts: f.Parts(), FileBytes: f.Size(),
	}
	for _, part := range f.parts() {
		r.SpareBytes += max(0, part.size-part.header.end)
	}
	r.addTensors(f)
	for _, v := range f.header.values {
		r.Metadata = append(r.Metadata, MetadataLine{Key: quote(v.key), Type: typeOf(v), Value: f.preview(v)})
	}
	// A value of the wrong type is in the list Metadata; here it counts as missing.
	r.ContextLength, _, _ = f.Uint(f.Architecture() + ".context_length")
	if v, found := f.value("tokenizer.ggml.tokens"); found && v.elem == gguf.String {
		r.VocabSize = v.bits
	}
	if kind, found, err := f.String("tokenizer.ggml.model"); found && err == nil {
		r.Tokenizer = escape(kind)
		if pre, found, err := f.String("tokenizer.ggml.pre"); found && err == nil {
			r.Tokenizer += ", pre-tokenizer " + escape(pre)
		} else if kind == "gpt2" {
			r.Tokenizer += ", pre-tokenizer not named"
		}
	}
	if template := f.ChatTemplate(); template != "" {
		hash := sha256.Sum256([]byte(template))
		r.TemplateHash = hex.EncodeToString(hash[:])
	}
	return r
}

// escape is quote without the quotes.
func escape(s string) string {
	quoted := strconv.Quote(s[:min(len(s), maxQuoted)])
	return quoted[1 : len(quoted)-1]
}

func (r *Report) addTensors(f *File) {
	at := map[string]int{}
	for _, t := range f.Tensors() {
		name := gguf.TypeName(t.Type)
		i, seen := at[name]
		if !seen {
			i = len(r.ByType)
			at[name] = i
			r.ByType = append(r.ByType, TypeTotal{Type: name})
			if !gguf.Loadable(t.Type) {
				r.Unsupported = append(r.Unsupported, name)
			}
		}
		r.ByType[i].Tensors++
		r.ByType[i].Elements += t.Elements()
		r.ByType[i].Bytes += t.bytes
		r.Parameters += t.Elements()
		r.Tensors = append(r.Tensors, TensorLine{Name: quote(t.Name), Type: name, Shape: t.Shape(), Bytes: t.bytes})
	}
}

func typeOf(v value) string {
	if v.typ == gguf.Array {
		return "array of " + v.elem.String()
	}
	return v.typ.String()
}

// previewElements is how many elements of an array are shown.
const previewElements = 6

// preview shows a value or its start.
func (f *File) preview(v value) string {
	switch v.typ {
	case gguf.String:
		return quote(string(f.data[v.offset:min(v.end, v.offset+maxQuoted+1)]))
	case gguf.Array:
		return f.previewArray(v)
	}
	return scalarText(v.typ, v.bits)
}

func (f *File) previewArray(v value) string {
	var shown []string
	at := v.offset
	for i := 0; i < int(min(v.bits, previewElements)); i++ {
		if v.elem != gguf.String {
			shown = append(shown, scalarText(v.elem, f.element(v, i)))
			continue
		}
		n := f.stringLength(at)
		shown = append(shown, quote(string(f.data[at+8:][:min(n, maxQuoted+1)])))
		at += 8 + int64(n)
	}
	if v.bits > previewElements {
		shown = append(shown, "…")
	}
	return fmt.Sprintf("%d: [%s]", v.bits, strings.Join(shown, ", "))
}

func scalarText(t gguf.ValueType, b uint64) string {
	if x, ok := float(t, b); ok {
		if t == gguf.Float32 {
			return fmt.Sprint(float32(x))
		}
		return fmt.Sprint(x)
	}
	if n, ok := signed(t, b); ok {
		return fmt.Sprint(n)
	}
	if t == gguf.Bool {
		return fmt.Sprint(b != 0)
	}
	return fmt.Sprint(b) // a u64 that does not fit into int64
}
