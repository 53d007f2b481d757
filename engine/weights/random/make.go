package random

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// HostileDraft is a name that may be given instead of a shape. It means a real draft model with shuffled
// weights (see Scramble).
const HostileDraft = "hostile-draft"

// MakeFile writes a model file at path, which must not exist. shape and weightType are names. draft is
// the file that HostileDraft shuffles; HostileDraft exists only for Q8_0.
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
