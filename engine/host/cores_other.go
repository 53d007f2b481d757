//go:build !linux && !darwin

package host

// allowedProcessors and fastCores are not known here. A thread is started for each logical
// processor.
func allowedProcessors() []int { return nil }
func fastCores() int           { return 0 }
