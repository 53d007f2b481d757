package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// MaxBytes is the largest size of a configuration file.
const MaxBytes = 64 << 10

// FileError is one mistake in a file.
type FileError struct {
	File string
	Line int // number of the line, counted from 1; 0 if the mistake concerns the whole file
	Err  error
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// Decode reads a configuration file. Settings that the file lacks have the built-in values. Names must match
// exactly, upper and lower case included. The error joins a *FileError for each of the first ten mistakes, in
// the order of lines, and counts the rest. After an error the Config is the built-in one. note is as in Imply.
func Decode(file string, data []byte) (c Config, note string, err error) {
	c, given, err := decode(file, data)
	if err == nil {
		if note, err = c.imply(given); err == nil {
			err = c.validate()
		}
		if err != nil {
			err = &FileError{File: file, Line: given[err.(*ValueError).Setting], Err: err}
		}
	}
	if err != nil {
		return Default(), "", err
	}
	return c, note, nil
}

// decode is Decode without Imply and without conditions between settings. It returns the line of each
// setting in the file. After an error the Config may have some of the file's values.
func decode(file string, data []byte) (Config, map[string]int, error) {
	c := Default()
	given := map[string]int{}
	if len(data) > MaxBytes {
		return c, given, &FileError{File: file, Err: fmt.Errorf("the file has %d bytes; a configuration has at most %d", len(data), MaxBytes)}
	}
	if n := longestKey(data); n > maxKeyParts {
		return c, given, &FileError{File: file, Err: fmt.Errorf("a name in it has %d parts; a setting has two, its section and its key", n)}
	}
	var sections map[string]toml.Primitive
	meta, err := toml.Decode(string(data), &sections)
	if err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return c, given, &FileError{File: file, Line: parse.Position.Line, Err: fmt.Errorf("this is not TOML: %s", parse.Message)}
		}
		return c, given, &FileError{File: file, Err: err}
	}
	r := reader{meta: &meta, config: &c, given: given}
	for name, body := range sections {
		r.section(name, body)
	}
	return c, given, r.report(file)
}

// maxKeyParts limits the parts of a dotted name, because the TOML decoder needs memory in proportion
// to the square of their number.
const maxKeyParts = 64

// longestKey returns an upper bound of the number of parts of the longest dotted name. It counts
// the dots between two of the characters = , [ ] { } and newline, outside strings and comments.
func longestKey(data []byte) int {
	longest, dots := 0, 0
	for i := 0; i < len(data); {
		switch c := data[i]; c {
		case '"', '\'':
			i += quoted(data[i:])
			continue
		case '#':
			for i+1 < len(data) && data[i+1] != '\n' {
				i++
			}
		case '.':
			dots++
			longest = max(longest, dots+1)
		case '=', ',', '[', ']', '{', '}', '\n':
			dots = 0
		}
		i++
	}
	return longest
}

// quoted returns the length in bytes of the TOML string that data begins with. If the string does not end,
// quoted returns the length of data. The text of a string in triple quotes may itself end in one or two quotes.
func quoted(data []byte) int {
	end, escapes := data[:1], data[0] == '"'
	if triple := bytes.Repeat(end, 3); bytes.HasPrefix(data, triple) {
		end = triple
	}
	for i := len(end); i < len(data); i++ {
		switch {
		case escapes && data[i] == '\\':
			i++
		case bytes.HasPrefix(data[i:], end):
			for n := 0; n < 2 && len(end) == 3 && bytes.HasPrefix(data[i+1:], end); n++ {
				i++
			}
			return i + len(end)
		}
	}
	return len(data)
}

// reader checks a parsed file against the table.
type reader struct {
	meta     *toml.MetaData
	config   *Config
	given    map[string]int
	mistakes []FileError
}

func (r *reader) mistake(at toml.Primitive, err error) {
	r.mistakes = append(r.mistakes, FileError{Line: r.line(at, 0), Err: err})
}

func (r *reader) section(name string, body toml.Primitive) {
	if !slices.Contains(sectionNames(), name) {
		r.mistake(body, unknownSection(name))
		return
	}
	var keys map[string]toml.Primitive
	// The decoder leaves the map nil, without an error, for a value that is no table.
	if r.meta.PrimitiveDecode(body, &keys) != nil || keys == nil {
		r.mistake(body, fmt.Errorf("%s must be a table: write [%s] on a line of its own and the settings below it", name, name))
		return
	}
	for key, value := range keys {
		r.setting(name+"."+key, value)
	}
}

func (r *reader) setting(name string, value toml.Primitive) {
	i := slices.IndexFunc(table, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		r.mistake(value, unknown(name))
		return
	}
	var v any
	if err := r.meta.PrimitiveDecode(value, &v); err != nil {
		r.mistake(value, err)
		return
	}
	if err := table[i].assign(r.config, v); err != nil {
		r.mistake(value, err)
		return
	}
	r.given[name] = r.line(value, 0)
}

// located is decoded only to learn where a value stands: its UnmarshalTOML fails, and the decoder adds the
// position to the error.
type located struct{}

var errLocated = errors.New("located")

func (located) UnmarshalTOML(any) error { return errLocated }

// line returns the line on which a value begins; 0 if that is not known. For a table that is only implied
// ([a.b] implies a), line returns the line of the table's first child.
func (r *reader) line(at toml.Primitive, depth int) int {
	var parse toml.ParseError
	if err := r.meta.PrimitiveDecode(at, &located{}); errors.As(err, &parse) && parse.Position.Line > 0 {
		return parse.Position.Line
	}
	var children map[string]toml.Primitive
	if depth == maxDepth || r.meta.PrimitiveDecode(at, &children) != nil {
		return 0
	}
	first := 0
	for _, child := range children {
		if n := r.line(child, depth+1); n > 0 && (first == 0 || n < first) {
			first = n
		}
	}
	return first
}

// maxDepth limits how deep line searches in a table that has no line of its own, such as a in
// "a.b.c = 1". Settings are two levels deep.
const maxDepth = 8

// report joins the mistakes, at most maxMistakes, in the order of lines.
func (r *reader) report(file string) error {
	slices.SortFunc(r.mistakes, func(a, b FileError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Err.Error(), b.Err.Error()))
	})
	var errs []error
	for i := range r.mistakes {
		if i == maxMistakes {
			errs = append(errs, fmt.Errorf("%s: and %d more", file, len(r.mistakes)-i))
			break
		}
		r.mistakes[i].File = file
		errs = append(errs, &r.mistakes[i])
	}
	return errors.Join(errs...)
}

// maxMistakes limits how many mistakes an error lists; the rest is only counted.
const maxMistakes = 10

func sectionNames() []string {
	var names []string
	for _, s := range table {
		if !slices.Contains(names, s.Section()) {
			names = append(names, s.Section())
		}
	}
	return names
}

// unknownSection returns the error for an unknown section. If name is a setting that was written outside
// its section, the error says where it belongs.
func unknownSection(name string) error {
	for _, s := range table {
		if s.Key() == name {
			return fmt.Errorf("%s belongs in the section [%s]", name, s.Section())
		}
	}
	if section := Nearest(name, sectionNames()); section != "" {
		return &UnknownError{Name: name, Nearest: "[" + section + "]"}
	}
	var keys []string
	for _, s := range table {
		keys = append(keys, s.Key())
	}
	err := &UnknownError{Name: name}
	if at := slices.Index(keys, Nearest(name, keys)); at >= 0 {
		err.Nearest = keys[at] + " in the section [" + table[at].Section() + "]"
	}
	return err
}
