// Package folder reads a model as the library transformers saves it: a folder with config.json,
// tokenizer.json and weights as safetensors, in one file or in shards that
// model.safetensors.index.json lists.
//
// Open reads the headers and finds every tensor. Config gives the fields of config.json. Vocabulary
// (vocabulary.go) writes the vocabulary and the chat template as metadata of a GGUF file. Lay (lay.go)
// arranges the tensors as in a GGUF file. Package model, not this one, knows the tensors of each family
// and the meaning of its fields.
//
// A folder is as hostile as any model file. Each of its files is checked before memory is allocated
// for its content, names of shards cannot lead out of the folder, and every text and list has a
// bound.
package folder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"specula/engine/weights"
	"specula/engine/weights/safetensors"
)

// Limits far above any published folder.
const (
	maxConfigBytes    = 4 << 20 // config.json and its like
	maxIndexBytes     = 16 << 20
	maxTokenizerBytes = 256 << 20
	maxShards         = 1000
)

const (
	configName = "config.json"
	indexName  = "model.safetensors.index.json"
	singleName = "model.safetensors"
)

// Folder is a folder whose headers passed every check. It never changes.
type Folder struct {
	path   string
	shards []*safetensors.File
	sizes  int64 // size of all shards in bytes
	where  map[string]place
	names  []string // names of all tensors, by shard and then by position
	config Fields
}

// place says where a tensor lies.
type place struct {
	shard  *safetensors.File
	tensor safetensors.Tensor
}

// Is reports whether path is a folder.
func Is(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Open reads config.json and the headers of all files with weights. The error wraps
// weights.ErrMalformed if a file breaks its format, or says which file is missing.
func Open(ctx context.Context, path string) (*Folder, error) {
	f := &Folder{path: path, where: map[string]place{}}
	fields, err := f.object(ctx, configName, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, f.withoutConfig()
	}
	if err != nil {
		return nil, err
	}
	f.config = fields
	files, listed, err := f.weightFiles(ctx)
	if err != nil {
		return nil, err
	}
	for i, name := range files {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("reading %q: %w", path, err)
		}
		if err := f.addShard(name, i, len(files)); err != nil {
			return nil, err
		}
	}
	return f, f.checkIndex(listed)
}

// withoutConfig returns an error that says why a folder without config.json cannot be read.
func (f *Folder) withoutConfig() error {
	files, _ := filepath.Glob(filepath.Join(f.path, "*.gguf"))
	if len(files) > 0 {
		return fmt.Errorf("reading the folder %q: it has no %s, but GGUF files: give one of them, such as %q", f.path, configName, files[0])
	}
	return fmt.Errorf("reading the folder %q: %s is missing: give a GGUF file, or a folder that the library transformers saved", f.path, configName)
}

// weightFiles returns the names of the files with weights, and the file of each tensor in the index;
// listed is nil without an index.
func (f *Folder) weightFiles(ctx context.Context) (files []string, listed map[string]string, err error) {
	index, err := f.object(ctx, indexName, maxIndexBytes)
	if errors.Is(err, fs.ErrNotExist) {
		files, err := f.singleFile()
		return files, nil, err
	}
	if err != nil {
		return nil, nil, err
	}
	list := index.Object("weight_map")
	listed = map[string]string{}
	used := map[string]bool{}
	for _, tensor := range slices.Sorted(maps.Keys(list.values)) {
		file := list.Text(tensor)
		if err := list.Err(); err != nil {
			return nil, nil, err
		}
		if file != filepath.Base(file) || strings.ContainsAny(file, `/\`) || !strings.HasSuffix(file, ".safetensors") {
			return nil, nil, list.refuse(tensor, fmt.Sprintf("%.64q", file), "the name of a .safetensors file in this folder")
		}
		listed[tensor], used[file] = file, true
	}
	if len(used) == 0 || len(used) > maxShards {
		return nil, nil, index.refuse("weight_map", fmt.Sprintf("%d files", len(used)), fmt.Sprintf("1 to %d", maxShards))
	}
	return slices.Sorted(maps.Keys(used)), listed, index.Err()
}

// singleFile finds the file with weights in a folder without an index.
func (f *Folder) singleFile() ([]string, error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, fmt.Errorf("reading the folder %q: %w", f.path, err)
	}
	var found, pickled []string
	for _, e := range entries {
		switch name := e.Name(); {
		case name == singleName:
			return []string{name}, nil
		case strings.HasSuffix(name, ".safetensors"):
			found = append(found, name)
		case strings.HasSuffix(name, ".bin"), strings.HasSuffix(name, ".pth"), strings.HasSuffix(name, ".pt"):
			pickled = append(pickled, name)
		}
	}
	switch {
	case len(found) == 1:
		return found, nil
	case len(found) > 1:
		return nil, fmt.Errorf("reading the folder %q: it has %d .safetensors files, and %s is missing, which says what is in which: download it, too", f.path, len(found), indexName)
	case len(pickled) > 0:
		return nil, fmt.Errorf("reading the folder %q: its weights are in %.64q, a format that can run code: download the .safetensors files, or a GGUF file", f.path, pickled[0])
	}
	return nil, fmt.Errorf("reading the folder %q: it has no file with weights (%s)", f.path, singleName)
}

// addShard reads the header of a file with weights.
func (f *Folder) addShard(name string, number, count int) error {
	path := filepath.Join(f.path, name)
	err := weights.WithFile(path, func(src io.ReaderAt, size int64) error {
		shard, err := safetensors.ReadHeader(path, src, size)
		if err != nil {
			return err
		}
		f.shards = append(f.shards, shard)
		f.sizes += size
		for _, t := range shard.Tensors() {
			if other, twice := f.where[t.Name]; twice {
				return fmt.Errorf("reading %q: the tensor %.64q is also in %q; allowed is each once: %w", path, t.Name, other.shard.Name(), weights.ErrMalformed)
			}
			f.where[t.Name] = place{shard, t}
			f.names = append(f.names, t.Name)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("opening file %d of %d of a model: %q is missing: download it into the same folder: %w", number+1, count, path, err)
	}
	return err
}

// checkIndex checks that each tensor of the index is in the file that the index names.
func (f *Folder) checkIndex(listed map[string]string) error {
	for _, tensor := range slices.Sorted(maps.Keys(listed)) {
		at, found := f.where[tensor]
		path := filepath.Join(f.path, listed[tensor])
		if !found || at.shard.Name() != path {
			return fmt.Errorf("reading %q: the tensor %.64q is missing, which %s says is there: the files are of different models, or one is cut: %w",
				path, tensor, indexName, weights.ErrMalformed)
		}
	}
	return nil
}

// Path returns the path under which the folder was opened.
func (f *Folder) Path() string { return f.path }

// Config returns the fields of config.json.
func (f *Folder) Config() Fields { return f.config }

// Tensors lists the names of all tensors, in the order of the files.
func (f *Folder) Tensors() []string { return f.names }

// Has reports whether the folder has a tensor of this name.
func (f *Folder) Has(tensor string) bool { _, found := f.where[tensor]; return found }

// Rows returns the first dimension of a tensor. It returns 0 if the folder has no such tensor, or if the
// tensor has no dimensions.
func (f *Folder) Rows(tensor string) int {
	if shape := f.where[tensor].tensor.Shape; len(shape) > 0 {
		return int(shape[0])
	}
	return 0
}

// object reads a JSON file that holds an object. The error wraps fs.ErrNotExist if there is no such file.
func (f *Folder) object(ctx context.Context, name string, most int64) (Fields, error) {
	path := filepath.Join(f.path, name)
	var values map[string]any
	err := f.decode(ctx, name, most, &values)
	if err == nil && values == nil {
		err = fmt.Errorf("reading %q: got null, allowed is an object: %w", path, weights.ErrMalformed)
	}
	return Fields{file: path, values: values, err: new(error)}, err
}

// decode reads a JSON file into target. The file may have at most as many bytes as most says.
func (f *Folder) decode(ctx context.Context, name string, most int64, target any) error {
	data, err := f.read(ctx, name, most)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.UseNumber()
	if err := decoder.Decode(target); err != nil {
		return fmt.Errorf("reading %q: it is not the JSON that is expected: %w: %w", filepath.Join(f.path, name), err, weights.ErrMalformed)
	}
	return nil
}

// read returns the content of a file, which may have at most as many bytes as most says.
func (f *Folder) read(ctx context.Context, name string, most int64) ([]byte, error) {
	path := filepath.Join(f.path, name)
	return weights.ReadFile(ctx, path, func(_ io.ReaderAt, size int64) error {
		if size > most {
			return fmt.Errorf("reading %q: it has %d bytes, allowed are %d: %w", path, size, most, weights.ErrMalformed)
		}
		return nil
	}, nil)
}
