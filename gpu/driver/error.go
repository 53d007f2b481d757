package driver

import (
	"fmt"

	"specula/engine/compute"
)

// Error is a refusal of the driver, a compute.ErrDevice. It wraps compute.ErrOutOfMemory where memory ran out and compute.ErrDeviceLost where nothing on the
// device can be used again.
type Error struct {
	Doing string // "allocating 4096 bytes on the device"
	Code  int    // the driver's, a CUresult
	Name  string // CUDA_ERROR_OUT_OF_MEMORY
	Text  string // the driver's own words; may be empty
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (code %d)", e.Doing, e.Name, e.Code)
	if e.Text != "" {
		s += ": " + e.Text
	}
	switch {
	case e.KernelFailed():
		s += "; the GPU cannot be used again before specula is started anew"
	case e.Unwrap() != nil:
		s += "; " + e.Unwrap().Error()
	}
	return s
}

func (e *Error) Unwrap() error {
	switch {
	case e.Code == 2:
		return compute.ErrOutOfMemory
	case e.KernelFailed(), e.lost():
		return compute.ErrDeviceLost
	}
	return nil
}

// Is makes every refusal one of the device.
func (e *Error) Is(target error) bool { return target == compute.ErrDevice }

// KernelFailed says whether the work of a kernel was the cause, found where the host waited or at any call since: such an error stays
// with the context, and every later call repeats it.
func (e *Error) KernelFailed() bool {
	switch e.Code {
	case 700, 702, 710, 714, 715, 716, 717, 718, 719: // illegal address, timeout, assertion, hardware stack, instruction, alignment, …
		return true
	}
	return false
}

// lost are errors of the device itself: uncorrectable memory or link errors, a destroyed context, a GPU that fell off the bus.
func (e *Error) lost() bool {
	switch e.Code {
	case 4, 46, 101, 214, 220, 709, 999:
		return true
	}
	return false
}
