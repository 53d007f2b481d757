//go:build cuda && linux && cgo

package gpu

import "specula/gpu/driver"

func connect(ordinal int) (device, error) {
	d, err := driver.Open(ordinal)
	if err != nil {
		return nil, err
	}
	return d, nil
}
