package constrain

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// ReadText returns value itself, or for @FILE the content of the file, without a byte order mark. A
// relative name begins at the working directory. It is an error if FILE is not a regular file or
// has more than MaxBytes.
func ReadText(value string) (string, error) {
	path, ok := strings.CutPrefix(value, "@")
	if !ok {
		return value, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("reading the file after @: %w", err)
	}
	if !info.Mode().IsRegular() { // to open a pipe would wait for a writer
		return "", fmt.Errorf("reading the file after @: %q is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the file after @: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return "", fmt.Errorf("reading the file after @: %w", err)
	}
	if len(data) > MaxBytes {
		return "", fmt.Errorf("the file %q has more than %d bytes", path, MaxBytes)
	}
	return strings.TrimPrefix(string(data), "\uFEFF"), nil
}
