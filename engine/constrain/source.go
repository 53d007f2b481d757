package constrain

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// ReadText returns a constraint as it was given, or for @FILE what the file holds. A relative name begins at the working directory.
func ReadText(value string) (string, error) {
	path, ok := strings.CutPrefix(value, "@")
	if !ok {
		return value, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("reading the file after @: %w", err)
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for someone to write into it
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
