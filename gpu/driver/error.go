package driver

import (
	"fmt"

	"specula/engine/compute"
)

// Error says that the driver refused a call. errors.Is finds compute.ErrDevice in it; also
// compute.ErrOutOfMemory if memory ran out, and compute.ErrDeviceLost if the device cannot be used
// any more.
type Error struct {
	Doing string // e.g. "allocating 4096 bytes on the device"
	Code  int    // the driver's code, a CUresult
	Name  string // e.g. CUDA_ERROR_OUT_OF_MEMORY
	Text  string // the driver's description; may be empty
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

// Is reports every Error as a compute.ErrDevice.
func (e *Error) Is(target error) bool { return target == compute.ErrDevice }

// KernelFailed reports whether a kernel caused the error. The driver returns such an error from the
// next wait or any other later call, and then from every call on this context.
func (e *Error) KernelFailed() bool {
	switch e.Code {
	// Illegal address, timeout, assertion, hardware stack, instruction, alignment and others.
	case 700, 702, 710, 714, 715, 716, 717, 718, 719:
		return true
	}
	return false
}

// lost reports whether the device or its driver is gone: by an uncorrectable memory or link error, a
// destroyed context, a GPU that fell off the bus, or a driver that was shut down. An error that the
// driver cannot name counts, too.
func (e *Error) lost() bool {
	switch e.Code {
	case 4, 46, 101, 214, 220, 709, 999:
		return true
	}
	return false
}
