//go:build cuda && linux && cgo

package driver

/*
#include <cuda.h>
static CUstream to_stream(uintptr_t handle) { return (CUstream)handle; }
*/
import "C"

import (
	"unsafe"

	"gorgonia.org/cu"
)

// The handles of package cu are structs of one C pointer. These lines fail to compile if the handles of
// this package have another size.
var (
	_ = [1]byte{}[unsafe.Sizeof(cu.Stream{})-unsafe.Sizeof(Stream(0))]
	_ = [1]byte{}[unsafe.Sizeof(cu.Event{})-unsafe.Sizeof(Event(0))]
	_ = [1]byte{}[unsafe.Sizeof(cu.Module{})-unsafe.Sizeof(Module(0))]
	_ = [1]byte{}[unsafe.Sizeof(cu.Function{})-unsafe.Sizeof(Function(0))]
)

func (s Stream) cu() cu.Stream { return *(*cu.Stream)(unsafe.Pointer(&s)) }
func (e Event) cu() cu.Event   { return *(*cu.Event)(unsafe.Pointer(&e)) }
func (s Stream) c() C.CUstream { return C.to_stream(C.uintptr_t(s)) }

// NewStream makes a stream that neither waits for other streams nor makes them wait.
func (d *Device) NewStream() (Stream, error) {
	s, err := cu.MakeStream(cu.NonBlocking)
	return *(*Stream)(unsafe.Pointer(&s)), failed("making a stream", err)
}

// FreeStream frees a stream, once its work is done.
func (d *Device) FreeStream(s Stream) error {
	handle := s.cu()
	return failed("freeing a stream", handle.Destroy())
}

// Wait waits for all work of a stream, and returns an error if any of it failed.
func (d *Device) Wait(s Stream) error {
	d.count(Traffic{Waits: 1})
	return failed("waiting for the device", s.cu().Synchronize())
}

// NewEvent makes an event. Only a timed one can be given to Elapsed.
func (d *Device) NewEvent(timed bool) (Event, error) {
	flags := cu.DisableTiming
	if timed {
		flags = cu.DefaultEvent
	}
	e, err := cu.MakeEvent(flags)
	return *(*Event)(unsafe.Pointer(&e)), failed("making an event", err)
}

func (d *Device) FreeEvent(e Event) error {
	handle := e.cu()
	return failed("freeing an event", cu.DestroyEvent(&handle))
}

// Record sets an event to the point in a stream after all work queued so far.
func (d *Device) Record(e Event, s Stream) error {
	return failed("recording an event", e.cu().Record(s.cu()))
}

// WaitEvent makes the later work of a stream wait for an event. The host does not wait.
func (d *Device) WaitEvent(s Stream, e Event) error {
	return failed("waiting for an event", s.cu().Wait(e.cu(), 0))
}

// WaitHost makes the host wait for an event.
func (d *Device) WaitHost(e Event) error {
	d.count(Traffic{Waits: 1})
	return failed("waiting for an event", e.cu().Synchronize())
}

// Passed reports, without waiting, whether the device has reached an event.
func (d *Device) Passed(e Event) (bool, error) {
	err := e.cu().Query()
	if err == cu.NotReady {
		return false, nil
	}
	return err == nil, failed("asking for an event", err)
}

// Elapsed is the time in milliseconds between two timed events that the device has passed.
func (d *Device) Elapsed(from, to Event) (ms float64, err error) {
	ms, err = from.cu().Elapsed(to.cu())
	return ms, failed("timing the device", err)
}
