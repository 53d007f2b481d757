//go:build (!amd64 && !arm64) || noasm

package cpu

// floats is never called, because Do always takes the portable path here.
func (t *MatMulFloat) floats(first, last int) { t.portable(first, last) }

func (t *MatMulFloat) hasManyRows() bool            { return false }
func (t *MatMulFloat) multiplyMany(first, last int) {}
