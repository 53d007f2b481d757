package compose

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"specula/ui/replace"
)

// The limits of a history.
const (
	historyLimit    = 500                 // entries
	entryLimitBytes = 16 << 10            // longer prompts are not kept
	lineLimitBytes  = 8 * entryLimitBytes // longest line that an entry can need: all of it escaped
	// readLimitBytes is how much of a file is read, from its end, where the newest entries are.
	readLimitBytes = 2 * historyLimit * entryLimitBytes
)

// History holds the prompts that were sent, oldest first. Its file has one JSON string per line. The
// zero value is a history without a file.
type History struct {
	path    string
	entries []string
	at      int    // index of the entry that is shown; len(entries): the user's own text
	draft   string // the user's own text, which was in the prompt before Back
}

// OpenHistory reads the history in a file. A missing file is an empty history. Lines that are not
// entries are skipped. The returned history works even after an error: without a file if
// reading it failed, with the file if only shortening it failed.
func OpenHistory(path string) (*History, error) {
	h := &History{path: path}
	lines, err := h.read()
	if err != nil {
		h.path = ""
		return h, fmt.Errorf("reading the prompt history: %w", err)
	}
	if lines > 2*historyLimit {
		if err := h.rewrite(); err != nil {
			return h, fmt.Errorf("shortening the prompt history: %w", err)
		}
	}
	return h, nil
}

// read reads the entries of the file, and returns how many lines it read.
func (h *History) read() (lines int, err error) {
	info, err := os.Stat(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return 0, fmt.Errorf("%s is no regular file (%v); move it away", h.path, info.Mode())
	}
	f, err := os.Open(h.path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, lineLimitBytes)
	if beyond := info.Size() - readLimitBytes; beyond > 0 {
		if _, err := f.Seek(beyond, io.SeekStart); err != nil {
			return 0, err
		}
		if _, err := nextLine(r); err != nil { // skip the rest of a line whose start was not read
			return 0, ignoreEOF(err)
		}
	}
	for {
		line, err := nextLine(r)
		if len(line) > 0 || err == nil {
			lines++
		}
		var entry string
		if json.Unmarshal(line, &entry) == nil {
			h.remember(entry)
		}
		if err != nil {
			return lines, ignoreEOF(err)
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// nextLine reads one line. If the line does not fit into r's buffer, it skips the line and returns nil.
func nextLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return nil, err
}

func (h *History) rewrite() error {
	var data []byte
	for _, e := range h.entries {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		data = append(append(data, line...), '\n')
	}
	return replace.Write(replace.Disk{}, h.path, data, nil)
}

func (h *History) remember(entry string) bool {
	if entry == "" || len(entry) > entryLimitBytes || len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		h.at = len(h.entries)
		return false
	}
	h.entries = append(h.entries, entry)
	if extra := len(h.entries) - historyLimit; extra > 0 {
		h.entries = append(h.entries[:0], h.entries[extra:]...)
	}
	h.at = len(h.entries)
	return true
}

// Add appends a prompt to the history and to its file. It skips an empty or long prompt, and one that
// equals the last entry.
func (h *History) Add(entry string) error {
	h.draft = ""
	if !h.remember(entry) || h.path == "" {
		return nil
	}
	line, err := json.Marshal(entry)
	if err == nil {
		err = appendLine(h.path, append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keeping the prompt history: %w", err)
	}
	return nil
}

func appendLine(path string, line []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	cut, err := lacksNewline(f)
	if cut {
		line = append([]byte{'\n'}, line...)
	}
	if err == nil {
		_, err = f.Write(line)
	}
	return errors.Join(err, f.Close())
}

// lacksNewline reports whether the last line has no newline, because a program was killed while it wrote
// it. An entry that was appended to this line would be lost.
func lacksNewline(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return last[0] != '\n', err
}

// Back returns the entry before the one that is shown, and true. current is the text in the prompt; if it
// is the user's own text, Back keeps it as draft. At the oldest entry it returns false.
func (h *History) Back(current string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	if h.at == len(h.entries) {
		h.draft = current
	}
	h.at--
	return h.entries[h.at], true
}

// Forward returns the entry after the one that is shown, and true. After the newest entry comes the user's
// own text (draft). If the user's text is shown already, it returns false.
func (h *History) Forward() (string, bool) {
	if h.at >= len(h.entries) {
		return "", false
	}
	if h.at++; h.at == len(h.entries) {
		return h.draft, true
	}
	return h.entries[h.at], true
}
