//go:build !linux && !darwin

package keeper

// Split does nothing: there is no keeper on this system.
func Split() *Link { return nil }
