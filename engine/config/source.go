package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Source says where a configuration came from.
type Source struct {
	Path string // empty for the built-in values
	Why  string // "--config", "SPECULA_CONFIG", "the user's configuration folder", "built in"
	// Missed says why the search for the user's configuration file failed; empty if the search did not fail.
	// A failed search is no error, because there may be no such file.
	Missed string
}

func (s Source) String() string {
	if s.Path == "" {
		return s.Why
	}
	return s.Path + " (" + s.Why + ")"
}

// Search returns which file to read: the file named by the flag --config, else by SPECULA_CONFIG, else
// specula/config.toml in configHome if it exists, else none. If the system cannot tell whether it exists,
// Search returns none and says why in Missed. An empty configHome is skipped. A config.toml in the
// current folder is not used, because anybody may have put it there.
func Search(flag string, getenv func(string) string, configHome string) Source {
	if flag != "" {
		return Source{Path: flag, Why: "--config"}
	}
	if path := getenv("SPECULA_CONFIG"); path != "" {
		return Source{Path: path, Why: "SPECULA_CONFIG"}
	}
	builtIn := Source{Why: "built in"}
	if configHome == "" {
		return builtIn
	}
	path := filepath.Join(configHome, "specula", "config.toml")
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return builtIn
	case err != nil:
		builtIn.Missed = fmt.Sprintf("the settings are the built-in ones, since your own cannot be looked for: %v", err)
		return builtIn
	}
	return Source{Path: path, Why: "the user's configuration folder"}
}

// Load reads the file of a source, as Decode does, and expands ~/ in its paths. After an error the Config is
// the built-in one; do not use it as if it were the user's. note is as in Imply.
func Load(source Source) (c Config, note string, err error) {
	if source.Path == "" {
		return Default(), "", nil
	}
	data, err := readFile(source.Path)
	if err != nil {
		return Default(), "", fmt.Errorf("reading the configuration (%s): %w", source.Why, err)
	}
	c, note, err = Decode(source.Path, data)
	if err != nil {
		return c, "", err
	}
	for _, path := range []*string{&c.Model.Target, &c.Model.Draft, &c.Model.Heads,
		&c.Remote.Vocabulary, &c.Remote.CA, &c.Remote.Certificate, &c.Remote.Headers} {
		expandHome(path)
	}
	if file, ok := strings.CutPrefix(c.Remote.Key, "@"); ok {
		expandHome(&file)
		c.Remote.Key = "@" + file
	}
	return c, note, nil
}

// readFile reads a regular file, at most MaxBytes+1 bytes of it. Anything else, such as a pipe or a
// device, is refused, because it could block or never end.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxBytes+1))
}

// expandHome replaces a leading ~/ by the home folder, as a shell does on a command line.
func expandHome(path *string) {
	rest, ok := strings.CutPrefix(*path, "~/")
	if !ok {
		return
	}
	if home, err := os.UserHomeDir(); err == nil {
		*path = filepath.Join(home, rest)
	}
}
