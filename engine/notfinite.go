package engine

import (
	"errors"
	"fmt"

	"specula/engine/compute"
	"specula/engine/sample"
)

// weightsDamaged reports whether an error means that the target's weights are damaged. That is so if
// its scores are not finite, unless the settings forbid every token.
func weightsDamaged(err error) bool {
	return errors.Is(err, compute.ErrNotFinite) && !errors.Is(err, sample.ErrNothingLeft)
}

// blame adds the name of the target's file to an error about damaged weights. It returns other errors as they are.
func (e *Engine) blame(err error) error {
	if !weightsDamaged(err) {
		return err
	}
	return fmt.Errorf("the target model %q gives scores that are no numbers, so its weights are damaged; get the file again: %w", e.options.Target.name(), err)
}
