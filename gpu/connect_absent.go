//go:build !(cuda && linux && cgo)

package gpu

import "specula/gpu/driver"

func connect(int) (device, error) { return nil, driver.Available() }
