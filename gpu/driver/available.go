//go:build cuda && linux && cgo

package driver

/*
#cgo CFLAGS: -I${SRCDIR}/include
#cgo LDFLAGS: -Wl,--as-needed -L${SRCDIR}/lib -ldl
#include <cuda.h>
#include "load.h"
*/
import "C"

import "fmt"

// Available loads the driver. The error says what is missing; nil means that a device can be
// opened.
func Available() error {
	switch state := C.driver_load(); state {
	case 0:
		return nil
	case -1:
		return fmt.Errorf("there is no CUDA driver on this machine: %s", C.GoString(C.driver_load_error()))
	case 100:
		return fmt.Errorf("the CUDA driver %s finds no GPU (code 100)", library())
	default:
		return fmt.Errorf("the CUDA driver %s does not start: cuInit gives code %d", library(), state)
	}
}

func library() string { return C.GoString(C.driver_library()) }
