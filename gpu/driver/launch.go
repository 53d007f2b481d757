//go:build cuda && linux && cgo

package driver

/*
#include <cuda.h>

// A launch with its argument block, in C memory: running it allocates and copies nothing.
typedef struct {
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    int count;
    unsigned long long *values;
    void **pointers;
} launch;

static uintptr_t new_launch(uintptr_t function, int count) {
    launch *l = calloc(1, sizeof *l + (size_t)count * (sizeof *l->values + sizeof *l->pointers));
    if (!l) return 0;
    l->function = (CUfunction)function;
    l->count = count;
    l->values = (unsigned long long *)(l + 1);
    l->pointers = (void **)(l->values + count);
    for (int i = 0; i < count; i++) l->pointers[i] = &l->values[i];
    return (uintptr_t)l;
}
static launch *launch_at(uintptr_t handle) { return (launch *)handle; }
static CUresult run_launch(uintptr_t handle, uintptr_t stream) {
    launch *l = (launch *)handle;
    return cuLaunchKernel(l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared_bytes,
        (CUstream)stream, l->pointers, NULL);
}
*/
import "C"

import (
	"fmt"
	"unsafe"

	"specula/engine/compute"
)

// Prepare makes a launch of a kernel, with a value for each of its parameters.
func (d *Device) Prepare(f Function, shape Shape, arguments ...Argument) (Launch, error) {
	l := Launch(C.new_launch(C.uintptr_t(f), C.int(len(arguments))))
	if l == 0 {
		return 0, fmt.Errorf("preparing a launch: %w", compute.ErrOutOfMemory)
	}
	d.Reshape(l, shape)
	copy(l.values(), arguments)
	return l, nil
}

func (l Launch) values() []Argument {
	c := C.launch_at(C.uintptr_t(l))
	return unsafe.Slice((*Argument)(unsafe.Pointer(c.values)), int(c.count))
}

// Reshape changes the shape for later runs of the launch.
func (d *Device) Reshape(l Launch, shape Shape) {
	c := C.launch_at(C.uintptr_t(l))
	for i := range 3 {
		c.grid[i], c.block[i] = C.uint(max(1, shape.Grid[i])), C.uint(max(1, shape.Block[i]))
	}
	c.shared_bytes = C.uint(shape.SharedBytes)
}

// Set changes an argument for later runs of the launch. Graphs that contain it do not change.
func (d *Device) Set(l Launch, i int, value Argument) { l.values()[i] = value }

// Run queues a launch. An error means a wrong shape, or earlier work that failed. A failure inside
// the kernel is found by a later Wait.
func (d *Device) Run(l Launch, s Stream) error {
	return refused("launching a kernel", C.run_launch(C.uintptr_t(l), C.uintptr_t(s)))
}

// FreeLaunch frees a launch.
func (d *Device) FreeLaunch(l Launch) { C.free(unsafe.Pointer(C.launch_at(C.uintptr_t(l)))) }
