//go:build !amd64 || noasm

package cpu

// block is never called: there is no level that has it.
func (t *MatMulFloat) block(first, last int) { t.portable(first, last) }
