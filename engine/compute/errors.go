package compute

import "errors"

// ErrNotFinite means that a model's logits hold NaN or +Inf, or no finite score at all.
var ErrNotFinite = errors.New("the model's scores are not finite numbers")

// ErrOutOfMemory means that the device or the host has not enough memory for what was asked.
var ErrOutOfMemory = errors.New("not enough memory")

// ErrDevice is wrapped by every error about a device other than the processor, such as a failed launch, no
// memory there, or a choice of settings that only the processor computes with.
var ErrDevice = errors.New("the device failed")

// ErrDeviceLost means that the device stopped answering. Nothing on it can be used again.
var ErrDeviceLost = errors.New("the device was lost")
