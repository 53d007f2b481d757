//go:build !(cuda && linux && cgo)

package driver

import "errors"

// Available returns an error: this build has no CUDA.
func Available() error {
	return errors.New("this build of specula has no CUDA in it (make build, on Linux with a C compiler, puts it in)")
}
