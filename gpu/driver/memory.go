//go:build cuda && linux && cgo

package driver

/*
#include <cuda.h>
*/
import "C"

import (
	"fmt"
	"slices"
	"unsafe"

	"gorgonia.org/cu"
)

// Alloc reserves device memory, aligned to 256 bytes. Its content is undefined.
func (d *Device) Alloc(bytes int64) (Pointer, error) {
	p, err := cu.MemAlloc(bytes)
	return Pointer(p), failed(fmt.Sprintf("allocating %d bytes on the device", bytes), err)
}

// Free frees memory of Alloc. It first waits for queued work, which may use the memory.
func (d *Device) Free(p Pointer) error {
	return failed("freeing device memory", cu.MemFree(cu.DevicePtr(p)))
}

// AllocAsync reserves device memory in the order of a stream, and FreeAsync frees it in that
// order.
func (d *Device) AllocAsync(s Stream, bytes int64) (Pointer, error) {
	var p C.CUdeviceptr
	code := C.cuMemAllocAsync(&p, C.size_t(bytes), s.c())
	return Pointer(p), refused(fmt.Sprintf("allocating %d bytes on the device", bytes), code)
}

func (d *Device) FreeAsync(s Stream, p Pointer) error {
	return refused("freeing device memory", C.cuMemFreeAsync(C.CUdeviceptr(p), s.c()))
}

// AllocHost reserves pinned host memory. The device reads and writes this memory by itself, so the
// host need not wait for copies from and to it.
func (d *Device) AllocHost(bytes int) ([]byte, error) {
	var p unsafe.Pointer
	if err := refused(fmt.Sprintf("pinning %d bytes of memory", bytes),
		C.cuMemHostAlloc(&p, C.size_t(bytes), 0)); err != nil {
		return nil, err
	}
	memory := unsafe.Slice((*byte)(p), bytes)
	d.pinned = append(d.pinned, memory)
	return memory, nil
}

// FreeHost frees memory of AllocHost. The device must have finished using it.
func (d *Device) FreeHost(memory []byte) error {
	at := d.pinned.find(memory)
	if err := failed("freeing pinned memory",
		cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(memory)))); err != nil {
		return err // the memory is still pinned
	}
	d.pinned = slices.Delete(d.pinned, at, at+1)
	return nil
}

// pinned lists the memory that AllocHost gave.
type pinned [][]byte

func (p pinned) holds(memory []byte) bool {
	for _, whole := range p {
		start, from := uintptr(unsafe.Pointer(unsafe.SliceData(whole))), uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
		if from >= start && from+uintptr(len(memory)) <= start+uintptr(len(whole)) {
			return true
		}
	}
	return false
}

// find returns the index of memory in the list. It panics if the memory is not there.
func (p pinned) find(memory []byte) int {
	at := slices.IndexFunc(p,
		func(whole []byte) bool { return unsafe.SliceData(whole) == unsafe.SliceData(memory) })
	if at < 0 {
		panic("driver: FreeHost of memory that AllocHost did not give, or twice")
	}
	return at
}

func (p *pinned) free() {
	for _, memory := range *p {
		_ = cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(memory))) // the process frees it at its end anyway
	}
	*p = nil
}

// Upload copies to the device in the order of a stream, and waits. The host memory need not be
// pinned.
func (d *Device) Upload(s Stream, to Pointer, from []byte) error {
	if err := d.upload(s, to, from); err != nil {
		return err
	}
	return d.Wait(s)
}

// Download copies from the device after the work of a stream, and waits.
func (d *Device) Download(s Stream, to []byte, from Pointer) error {
	if err := d.download(s, to, from); err != nil {
		return err
	}
	return d.Wait(s)
}

// UploadAsync queues a copy from pinned memory. The memory must not change before the stream has
// done the copy.
func (d *Device) UploadAsync(s Stream, to Pointer, from []byte) error {
	d.mustBePinned("UploadAsync", from)
	return d.upload(s, to, from)
}

// DownloadAsync queues a copy to pinned memory. The memory can be read after a Wait.
func (d *Device) DownloadAsync(s Stream, to []byte, from Pointer) error {
	d.mustBePinned("DownloadAsync", to)
	return d.download(s, to, from)
}

func (d *Device) mustBePinned(method string, memory []byte) {
	if !d.pinned.holds(memory) {
		panic("driver: " + method + " of memory that AllocHost did not give")
	}
}

func (d *Device) upload(s Stream, to Pointer, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	d.count(Traffic{UpBytes: int64(len(from)), Uploads: 1})
	err := cu.MemcpyHtoDAsync(cu.DevicePtr(to), unsafe.Pointer(unsafe.SliceData(from)), int64(len(from)),
		s.cu())
	return failed(fmt.Sprintf("copying %d bytes to the device", len(from)), err)
}

func (d *Device) download(s Stream, to []byte, from Pointer) error {
	if len(to) == 0 {
		return nil
	}
	d.count(Traffic{DownBytes: int64(len(to)), Downloads: 1})
	err := cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(to)), cu.DevicePtr(from), int64(len(to)),
		s.cu())
	return failed(fmt.Sprintf("copying %d bytes from the device", len(to)), err)
}

// Copy queues a copy within device memory.
func (d *Device) Copy(s Stream, to, from Pointer, bytes int64) error {
	err := cu.MemcpyDtoDAsync(cu.DevicePtr(to), cu.DevicePtr(from), bytes, s.cu())
	return failed(fmt.Sprintf("copying %d bytes inside the device", bytes), err)
}

// Fill queues setting device memory to a byte value.
func (d *Device) Fill(s Stream, to Pointer, value byte, bytes int64) error {
	err := cu.MemsetD8Async(cu.DevicePtr(to), value, bytes, s.cu())
	return failed(fmt.Sprintf("filling %d bytes on the device", bytes), err)
}

// Traffic returns the copies and waits since the device was opened.
func (d *Device) Traffic() Traffic { return d.traffic }

// count adds traffic to the count of the device or, during a capture, to the count of the graph.
func (d *Device) count(t Traffic) {
	if d.capture != nil {
		*d.capture = d.capture.plus(t)
		return
	}
	d.traffic = d.traffic.plus(t)
}
