package random

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// HostileDraft names, as if it were a shape, a known draft model with its weights in disorder, see Scramble.
const HostileDraft = "hostile-draft"

// MakeFile writes a model file of a shape and a type of weights by their names at path, which must not exist. draft is the file that
// HostileDraft disorders, which has one type only.
func MakeFile(ctx context.Context, path, shape, weightType string, draft []byte) error {
	if shape == HostileDraft && weightType == "Q8_0" {
		return writeHostileDraft(path, draft)
	}
	s, err := ShapeNamed(shape)
	if err != nil {
		return err
	}
	t, err := TypeNamed(weightType)
	if err != nil {
		return err
	}
	return WriteFile(ctx, path, s, t)
}

func writeHostileDraft(path string, draft []byte) error {
	data, err := Scramble("draft", draft)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("making a model file: %w", err)
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
