// Package weights reads model files and gives one view of them: metadata with checked types, and
// tensors as the bytes that the file stores.
//
// Read it in this order. Open (open.go) returns a File, from which Tensor, TokenizerSpec and the
// getters of metadata.go read. header.go, value.go and tensor.go parse the parts of a GGUF file
// through a cursor (cursor.go). Describe makes the Report that «specula info FILE» prints. Package
// gguf writes GGUF files; this package reads them. Package safetensors reads the format in which trained
// heads come, and package folder reads whole models in that format. Both follow the same rules, and
// Assemble (assemble.go) makes Files of them.
//
// A model file is hostile until proven otherwise. Its header states counts, lengths and offsets.
// Any of them may be false, and could then exhaust memory or point outside the file. So each is
// compared with the bytes that are really there before it is used to allocate or read, and all
// products and sums are checked for overflow.
//
// One invariant: all tensors of a File that Open or Parse returned lie inside its data. For a file
// that breaks the format they return an error. The error names the file and the field, its byte
// offset, what was found and what is allowed.
//
// Reading takes two steps. A first pass over the header, with a small buffer, decides whether the
// file is acceptable and how many bytes its header and tensors take. Only then is memory
// allocated for exactly that many. The bytes are read into it and parsed again there, because a
// file on disk can change between two reads. Files are never mapped: if a mapped file shrinks, the
// process is killed.
package weights

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

// File is a model file that passed every check. Several goroutines may use it. Only Release and
// ReleasePart change it.
type File struct {
	name   string
	size   int64 // size of the whole file in bytes
	header header
	data   []byte // header and tensors, or the header alone

	keys  []int32 // indices into header.values, sorted by key
	names []int32 // indices into header.tensors, sorted by name

	more []*File // the other parts of a model in several files, each with tensors of its own

	from *Assembly // the files of another format that the model was read from; nil for a GGUF file

	owned    bool          // data is memory of the File, not borrowed
	released []atomic.Bool // for each index of header.tensors: whether the tensor's memory was given back
}

// Name returns the path or name under which the file was opened.
func (f *File) Name() string { return f.name }

// Format returns the file format with its version, such as "GGUF v3".
func (f *File) Format() string {
	if f.from != nil {
		return f.from.Format
	}
	return fmt.Sprintf("GGUF v%d", f.header.version)
}

// Size returns the length of the file, or of all its parts, in bytes, including anything after the
// last tensor, which is not read.
func (f *File) Size() int64 {
	if f.from != nil {
		return f.from.Size
	}
	size := int64(0)
	for _, part := range f.parts() {
		size += part.size
	}
	return size
}

// Architecture returns the kind of model, such as "qwen3" or "llama"; "" if the file does not say.
func (f *File) Architecture() string { return f.wellKnown("general.architecture") }

// ModelName returns the model's name in the file; "" if the file does not say.
func (f *File) ModelName() string { return f.wellKnown("general.name") }

// ChatTemplate returns the Jinja source of the chat template; "" if there is none. It is as hostile
// as the rest of the file.
func (f *File) ChatTemplate() string { return f.wellKnown("tokenizer.chat_template") }

// wellKnown reads a string whose type was checked when the header was parsed.
func (f *File) wellKnown(key string) string {
	s, _, _ := f.String(key)
	return s
}

// Tensors lists the tensors in file order.
func (f *File) Tensors() []Tensor {
	var all []Tensor
	for _, part := range f.parts() {
		all = append(all, part.header.tensors...)
	}
	return all
}

// Tensor returns a tensor as stored: Cols is its first dimension, Rows the product of the others.
// found is false if the file has no tensor of that name. The error wraps ErrUnsupportedType if
// specula cannot compute with the tensor's type. Tensor also fails if only the header was opened,
// or after Release.
//
// Data belongs to the File, must not be written, and may begin at any address: read it byte by byte
// or copy it.
func (f *File) Tensor(name string) (w compute.Weight, found bool, err error) {
	f, at, found := f.find(name)
	if !found {
		return compute.Weight{}, false, nil
	}
	t := f.header.tensors[at]
	if !gguf.Loadable(t.Type) {
		return compute.Weight{}, true, fmt.Errorf("reading %q: tensor %s is stored as %s: %w", f.name, quote(t.Name), gguf.TypeName(t.Type), ErrUnsupportedType)
	}
	if t.offset+t.bytes > int64(len(f.data)) {
		return compute.Weight{}, true, fmt.Errorf("reading %q: tensor %s: only the header was opened; use Open for tensor data", f.name, quote(t.Name))
	}
	if f.released[at].Load() {
		return compute.Weight{}, true, fmt.Errorf("reading %q: the data of tensor %s were released: open the file again", f.name, quote(t.Name))
	}
	cols := t.shape[0]
	return compute.Weight{
		Name: t.Name,
		Type: t.Type,
		Rows: int(t.Elements() / cols),
		Cols: int(cols),
		Data: f.data[t.offset : t.offset+t.bytes : t.offset+t.bytes],
	}, true, nil
}

// find returns the part of the model that has a tensor, and the tensor's index in the header of that part.
func (f *File) find(name string) (part *File, index int32, found bool) {
	for _, part := range f.parts() {
		at, found := slices.BinarySearchFunc(part.names, name, func(i int32, name string) int {
			return strings.Compare(part.header.tensors[i].Name, name)
		})
		if found {
			return part, part.names[at], true
		}
	}
	return nil, 0, false
}

// Owned reports whether the data are memory of the File, so that Release can give memory back.
func (f *File) Owned() bool { return f.owned }

// Release gives the memory of a tensor's data back to the system where possible. After Release nobody
// may read these data, and Tensor fails for the name. Package model calls it after weights were copied,
// so that they are not in memory twice. Release does nothing for a tensor that does not exist, or for
// data that Parse borrowed.
func (f *File) Release(name string) {
	f, at, found := f.find(name)
	if !found || !f.owned || f.released[at].Swap(true) {
		return
	}
	t := f.header.tensors[at]
	discard(f.data, int(t.offset), int(t.offset+t.bytes))
}

// ReleasePart gives back the memory of bytes from … to−1 of a tensor, while a backend is still
// loading the rest. Release must follow.
func (f *File) ReleasePart(name string, from, to int) {
	if f, at, found := f.find(name); found && f.owned && !f.released[at].Load() {
		t := f.header.tensors[at]
		discard(f.data, int(t.offset)+max(from, 0), int(t.offset)+min(to, int(t.bytes)))
	}
}

// index sorts keys and names, so that they can be found by binary search, and refuses duplicates.
func (f *File) index() error {
	h := &f.header
	f.keys = order(len(h.values), func(i int32) string { return h.values[i].key })
	f.names = order(len(h.tensors), func(i int32) string { return h.tensors[i].Name })
	for i := 1; i < len(f.keys); i++ {
		if a, b := f.keys[i-1], f.keys[i]; h.values[a].key == h.values[b].key {
			return f.duplicate("metadata", "key", h.values[a].key, a, b, h.values[b].offset)
		}
	}
	for i := 1; i < len(f.names); i++ {
		if a, b := f.names[i-1], f.names[i]; h.tensors[a].Name == h.tensors[b].Name {
			return f.duplicate("tensors", "name", h.tensors[a].Name, a, b, h.tensors[b].infoAt)
		}
	}
	return nil
}

func (f *File) duplicate(list, field, name string, first, second int32, offset int64) error {
	return &MalformedError{
		File: f.name, Field: fmt.Sprintf("%s[%d] %s", list, second, field), Offset: offset,
		Got: fmt.Sprintf("%s, already at %s[%d]", quote(name), list, first), Allowed: "each once",
	}
}

// order returns 0..n-1 sorted by name; equal names by index.
func order(n int, name func(int32) string) []int32 {
	indices := make([]int32, n)
	for i := range indices {
		indices[i] = int32(i)
	}
	slices.SortStableFunc(indices, func(a, b int32) int { return strings.Compare(name(a), name(b)) })
	return indices
}
