// Package weights reads model files and gives one view of them: metadata with checked types, and tensors as the bytes the
// file stores.
//
// A model file is hostile until proven otherwise. Its header states counts, lengths and offsets, any of which may be a lie
// that would exhaust the memory or point outside the file; so each is compared with the bytes that are really there before
// anything is allocated or read on its word, and all products and sums are computed with overflow checks. Whatever a file
// holds ends either in a File whose every tensor lies inside its data, or in an error that names file, field, byte offset,
// what was found and what is allowed.
//
// Reading goes in two steps. A first pass over the header, through a small window, decides whether the file is acceptable
// and how many bytes its header and tensors span. Only then is memory taken for exactly that many, filled, and parsed again
// where it lies, because a file on disk can change between two looks at it. Files are read into memory and never mapped:
// a mapped file that shrinks kills the process.
//
// The format of models is GGUF (header.go, value.go, tensor.go); package gguf writes it. Trained heads come
// as safetensors, which package safetensors reads by the same rules.
package weights

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

// File is a model file that passed every check. It is safe for use by several goroutines; nothing but Release changes it.
type File struct {
	name   string
	size   int64 // of the whole file, bytes
	header header
	data   []byte // the file's bytes from its start: all of them that count, or the header alone

	keys  []int32 // indices of header.values, by key
	names []int32 // indices of header.tensors, by name

	owned    bool          // data is the File's own memory
	released []atomic.Bool // by index of header.tensors: the data are given back
}

// Name is the path or name under which the file was opened.
func (f *File) Name() string { return f.name }

// Format names the file format with its version: "GGUF v3".
func (f *File) Format() string { return fmt.Sprintf("GGUF v%d", f.header.version) }

// Size is the length of the file in bytes, including what follows the last tensor and is not read.
func (f *File) Size() int64 { return f.size }

// Architecture is the kind of model, such as "qwen3" or "llama"; "" when the file does not say.
func (f *File) Architecture() string { return f.wellKnown("general.architecture") }

// ModelName is what the file calls the model; "" when it does not say.
func (f *File) ModelName() string { return f.wellKnown("general.name") }

// ChatTemplate is the Jinja source of the chat template; "" when there is none. It is as hostile as the rest of the file.
func (f *File) ChatTemplate() string { return f.wellKnown("tokenizer.chat_template") }

// wellKnown reads a string whose type was checked when the header was parsed.
func (f *File) wellKnown(key string) string {
	s, _, _ := f.String(key)
	return s
}

// Tensors lists the tensors in file order.
func (f *File) Tensors() []Tensor { return slices.Clone(f.header.tensors) }

// Tensor returns a tensor as stored: its first dimension as Cols, the product of the others as Rows. found is false when
// the file has no tensor of that name. The error, wrapping ErrUnsupportedType, names a type that can only be listed.
//
// Data belongs to the File, must not be written, and may begin at any address: read it by bytes or copy it.
func (f *File) Tensor(name string) (w compute.Weight, found bool, err error) {
	at, found := f.find(name)
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

// find returns the index of a tensor in the header.
func (f *File) find(name string) (index int32, found bool) {
	at, found := slices.BinarySearchFunc(f.names, name, func(i int32, name string) int {
		return strings.Compare(f.header.tensors[i].Name, name)
	})
	if !found {
		return 0, false
	}
	return f.names[at], true
}

// Owned reports whether the data are in memory of the File's own, so that Release gives memory back.
func (f *File) Owned() bool { return f.owned }

// Release gives the memory of a tensor's data back to the system, where it can: nobody may read them any more, and Tensor fails
// for the name from then on. It serves a backend that keeps weights in a form of its own, so that they are not in
// memory twice. Data that Parse borrowed stay as they are, as does a tensor that is not there.
func (f *File) Release(name string) {
	at, found := f.find(name)
	if !found || !f.owned || f.released[at].Swap(true) {
		return
	}
	t := f.header.tensors[at]
	discard(f.data, int(t.offset), int(t.offset+t.bytes))
}

// ReleasePart gives the memory of bytes from … to−1 of a tensor's data back, as Release does of all of them, while the tensor is being taken
// in. Release has to follow.
func (f *File) ReleasePart(name string, from, to int) {
	if at, found := f.find(name); found && f.owned && !f.released[at].Load() {
		t := f.header.tensors[at]
		discard(f.data, int(t.offset)+max(from, 0), int(t.offset)+min(to, int(t.bytes)))
	}
}

// index sorts keys and names, so that look-ups are binary searches, and refuses duplicates.
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

// order returns 0..n-1 sorted by name, equal names by index.
func order(n int, name func(int32) string) []int32 {
	indices := make([]int32, n)
	for i := range indices {
		indices[i] = int32(i)
	}
	slices.SortStableFunc(indices, func(a, b int32) int { return strings.Compare(name(a), name(b)) })
	return indices
}
