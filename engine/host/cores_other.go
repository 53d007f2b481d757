//go:build !linux && !darwin

package host

// allowedProcessors and fastCores return nothing on this system, so there is a thread for each logical
// processor.
func allowedProcessors() []int { return nil }
func fastCores() int           { return 0 }
