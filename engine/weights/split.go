package weights

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"

	"specula/engine/compute"
)

// Large models are often published in several files, NAME-00001-of-0000N.gguf. The first one has the
// metadata of the model; each one has some of its tensors.

// partName is how llama.cpp names the parts of a model.
var partName = regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})\.gguf$`)

// maxParts bounds the files of one model; the largest known have some 200.
const maxParts = 1000

// partPaths returns the paths of all parts of a model, in order. It returns nil if path is not the name
// of a part, and an error if the numbers in the name make no sense.
func partPaths(path string) ([]string, error) {
	m := partName.FindStringSubmatch(path)
	if m == nil {
		return nil, nil
	}
	number, _ := strconv.Atoi(m[2]) // both numbers have five digits, so Atoi cannot fail
	count, _ := strconv.Atoi(m[3])
	if number < 1 || number > count || count > maxParts {
		return nil, fmt.Errorf("reading %q: by its name it is part %d of %d; allowed are parts 1 to N of N, and N up to %d: rename it as it was", path, number, count, maxParts)
	}
	paths := make([]string, count)
	for i := range paths {
		paths[i] = fmt.Sprintf("%s-%05d-of-%05d.gguf", m[1], i+1, count)
	}
	return paths, nil
}

// openParts opens each part by open and joins them into the File of the first.
func openParts(paths []string, open func(path string) (*File, error)) (*File, error) {
	var whole *File
	for i, path := range paths {
		part, err := open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("opening part %d of %d of a model: %q is missing: put all parts into one folder: %w", i+1, len(paths), path, err)
		}
		if err != nil {
			return nil, err
		}
		if err := part.isPart(i, len(paths)); err != nil {
			return nil, err
		}
		if whole == nil {
			whole = part
			continue
		}
		whole.more = append(whole.more, part)
	}
	return whole, whole.checkParts()
}

// isPart checks that the metadata of a file agree with its name: it must be part number, counted from
// 0, of count parts.
func (f *File) isPart(number, count int) error {
	for _, c := range []struct {
		key  string
		want int
	}{{"split.no", number}, {"split.count", count}} {
		if got, _, err := f.Uint(c.key); err != nil {
			return err
		} else if got != uint64(c.want) {
			return fmt.Errorf("reading %q: got %s %d, allowed %d, as the file's name says: the parts are of different models, or were renamed: %w",
				f.name, c.key, got, c.want, ErrMalformed)
		}
	}
	return nil
}

// checkParts checks that each tensor is in one part only. If the first part says how many tensors the
// model has, all parts together must have that many.
func (f *File) checkParts() error {
	seen, total := map[string]string{}, 0
	for _, part := range f.parts() {
		for _, t := range part.header.tensors {
			if other, twice := seen[t.Name]; twice {
				return fmt.Errorf("reading %q: the tensor %s is also in %q; allowed is each once: %w", part.name, quote(t.Name), other, ErrMalformed)
			}
			seen[t.Name] = part.name
			total++
		}
	}
	if want, found, err := f.Uint("split.tensors.count"); err != nil {
		return err
	} else if found && want != uint64(total) {
		return fmt.Errorf("reading %q: its %d parts have %d tensors together, allowed %d, by split.tensors.count: %w", f.name, len(f.parts()), total, want, ErrMalformed)
	}
	return nil
}

// parts returns the files of the model: f and the others.
func (f *File) parts() []*File { return append([]*File{f}, f.more...) }

// Parts returns how many files the model was read from.
func (f *File) Parts() int {
	if f.from != nil {
		return f.from.Files
	}
	return 1 + len(f.more)
}

// readParts is Open for the parts of one model. It reads all headers first, and refuses the model
// if all parts together do not fit into memory.
func readParts(ctx context.Context, paths []string, progress func(done, total int64)) (*File, error) {
	headers, err := openParts(paths, func(path string) (*File, error) { return openHeader(ctx, path) })
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for _, part := range headers.parts() {
		total += part.header.end
	}
	if free, known := availableMemory(); known && total > free {
		return nil, fmt.Errorf("reading %q: its %d parts take %d bytes of memory, %d are free; choose a smaller model: %w",
			paths[0], len(paths), total, free, compute.ErrOutOfMemory)
	}
	before := int64(0)
	return openParts(paths, func(path string) (*File, error) {
		part, err := openWhole(ctx, path, func(done, _ int64) {
			if progress != nil {
				progress(before+done, total)
			}
		})
		if err == nil {
			before += part.header.end
		}
		return part, err
	})
}
