package compute

import "errors"

// ErrNotFinite means that a model's scores hold a NaN or an infinity, or no finite maximum.
var ErrNotFinite = errors.New("the model's scores are not finite numbers")

// ErrOutOfMemory means that the device or host cannot hold what was asked for.
var ErrOutOfMemory = errors.New("not enough memory")

// ErrDevice is wrapped by whatever a device other than the processor refuses: memory, a launch, everything once it is lost.
var ErrDevice = errors.New("the device failed")

// ErrDeviceLost means that the device stopped answering; nothing on it can be used again.
var ErrDeviceLost = errors.New("the device was lost")
