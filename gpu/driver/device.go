//go:build cuda && linux && cgo

package driver

/*
#include <cuda.h>
*/
import "C"

import (
	"fmt"
	"reflect"
	"sync"

	"gorgonia.org/cu"
)

// Device is one opened GPU.
type Device struct {
	*Thread
	info    Info
	device  cu.Device
	context cu.CUContext
	traffic Traffic
	pinned  pinned
	capture *Traffic // of the graph being captured; nil: none
	close   func() error
}

// Open opens the device with that number, from 0, on a thread of its own.
func Open(ordinal int) (*Device, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	d := &Device{Thread: StartThread(), info: Info{Ordinal: ordinal}}
	d.close = sync.OnceValue(d.release)
	if err := d.Do(d.open); err != nil {
		d.Stop()
		return nil, err
	}
	return d, nil
}

func (d *Device) open() error {
	count, err := cu.NumDevices()
	if err != nil {
		return failed("counting the CUDA devices", err)
	}
	if d.info.Ordinal < 0 || d.info.Ordinal >= count {
		return fmt.Errorf("there is no CUDA device number %d: this machine has %d, numbered from 0",
			d.info.Ordinal, count)
	}
	if d.device, err = cu.GetDevice(d.info.Ordinal); err != nil {
		return failed(fmt.Sprintf("opening CUDA device %d", d.info.Ordinal), err)
	}
	if err := d.describe(); err != nil {
		return failed(fmt.Sprintf("describing CUDA device %d", d.info.Ordinal), err)
	}
	if d.context, err = d.device.RetainPrimaryCtx(); err != nil {
		return failed("making a context on "+d.info.Name, err)
	}
	if err := cu.SetCurrentContext(d.context); err != nil {
		return failed("using the context on "+d.info.Name, err)
	}
	return nil
}

func (d *Device) describe() (err error) {
	i := &d.info
	i.Version, i.Library = cu.Version(), library()
	if i.Name, err = d.device.Name(); err != nil {
		return err
	}
	if i.MemoryBytes, err = d.device.TotalMem(); err != nil {
		return err
	}
	for _, a := range []struct {
		attribute cu.DeviceAttribute
		value     *int
	}{
		{cu.ComputeCapabilityMajor, &i.Major}, {cu.ComputeCapabilityMinor, &i.Minor},
		{cu.MultiprocessorCount, &i.Multiprocessors},
		{C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &i.SharedBytes},
	} {
		if *a.value, err = d.device.Attribute(a.attribute); err != nil {
			return err
		}
	}
	i.L2Bytes, i.BytesPerUS = d.known(cu.L2CacheSize), memoryBytesPerUS(d.known(cu.MemoryClockRate), d.known(cu.GlobalMemoryBusWidth))
	return nil
}

// known returns an attribute, or 0 if the driver does not tell it.
func (d *Device) known(a cu.DeviceAttribute) int {
	value, err := d.device.Attribute(a)
	if err != nil {
		return 0
	}
	return value
}

// memoryBytesPerUS is how many bytes a memory with this clock and width delivers in a microsecond: two transfers
// in a cycle.
func memoryBytesPerUS(clockKHz, busBits int) int { return 2 * clockKHz * busBits / 8 / 1000 }

// Info describes the device. It may be called from any goroutine.
func (d *Device) Info() Info { return d.info }

// Memory returns the device's memory in bytes: free, and total.
func (d *Device) Memory() (freeBytes, totalBytes int64, err error) {
	freeBytes, totalBytes, err = cu.MemInfo()
	return freeBytes, totalBytes, failed("asking for the device's free memory", err)
}

// Close waits for the device, frees everything on it and ends its thread. It may be called from
// any goroutine, and more than once.
func (d *Device) Close() error { return d.close() }

func (d *Device) release() error {
	err := d.Do(func() error {
		waited := failed("closing the device", cu.Synchronize())
		d.pinned.free()
		if err := d.device.ReleasePrimaryCtx(); err != nil && waited == nil {
			return failed("closing the device", err)
		}
		return waited
	})
	d.Stop()
	return err
}

// failed turns an error of package cu, which is the driver's code, into an Error, and nil into nil.
// doing says what was attempted.
func failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	code := C.CUresult(C.CUDA_ERROR_UNKNOWN)
	if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
		code = C.CUresult(v.Int())
	}
	return refused(doing, code)
}

// refused turns a result code of the driver into an Error, and success into nil.
func refused(doing string, code C.CUresult) error {
	if code == C.CUDA_SUCCESS {
		return nil
	}
	e := &Error{Doing: doing, Code: int(code), Name: "unknown CUDA error"}
	var text *C.char
	if C.cuGetErrorName(code, &text) == C.CUDA_SUCCESS && text != nil {
		e.Name = C.GoString(text)
	}
	text = nil
	if C.cuGetErrorString(code, &text) == C.CUDA_SUCCESS && text != nil {
		e.Text = C.GoString(text)
	}
	return e
}
