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
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the file behind @: %w", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("reading the file behind @: %q is not a file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return "", fmt.Errorf("reading the file behind @: %w", err)
	}
	if len(data) > MaxBytes {
		return "", fmt.Errorf("the file %q has more than %d bytes", path, MaxBytes)
	}
	return strings.TrimPrefix(string(data), "\uFEFF"), nil
}
