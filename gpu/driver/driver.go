// Package driver gives access to an NVIDIA GPU through the CUDA driver library. It uses
// gorgonia.org/cu, and cgo of its own for what cu lacks: prepared launches, captured graphs,
// pinned memory, function attributes and texts of errors.
//
// Read Device first: it is an opened GPU. It loads a Module from PTX or machine code, finds a Function
// in it, and prepares a Launch; a Stream runs launches in order; a Graph replays many as one. Pointer
// is an address in device memory. Error says what the driver refused.
//
// With the build tag cuda, on Linux with cgo, the package is compiled against include/cuda.h.
// trampolines.c defines the functions of the driver and forwards each call to libcuda.so.1. This
// library is loaded when a device is asked for. The program in stub generates both files, so a build
// needs no CUDA, and one program starts with and without a GPU. Available says what is missing.
// Without the tag, the package only says that this build has no CUDA.
//
// One invariant: a CUDA context belongs to an OS thread. A Device has one goroutine, locked to its
// thread, for all calls of the driver. Call every method but Do, Submit, Info and Close inside a
// function given to Do or Submit. The package does not use the parts of cu that start threads of
// their own (Ctx, BatchedContext) or copy arguments at every launch (Function.Launch).
package driver

import "math"

//go:generate go run ./stub

// Pointer is an address in device memory. Add offsets in bytes to it. Zero is no memory.
type Pointer uint64

// Handles of objects of the driver, and of launches, which this package makes. Zero is none.
type (
	Stream   uintptr // runs work in the order queued; does not wait for other streams
	Event    uintptr // a point in the work of a stream
	Module   uintptr // the kernels of one PTX text, or of one file of machine code
	Function uintptr // one kernel
	Launch   uintptr // a kernel with its shape and arguments, ready to run
)

// Info describes a device.
type Info struct {
	Ordinal         int
	Name            string
	Major, Minor    int // compute capability
	MemoryBytes     int64
	Multiprocessors int
	SharedBytes     int    // the most shared memory that a block may have after SetDynamicShared
	L2Bytes         int    // size of the second-level cache; 0: the driver does not tell
	BytesPerUS      int    // that the memory delivers at best in a microsecond; 0: the driver does not tell
	Version         int    // of CUDA that the driver supports: 1000·major + 10·minor
	Library         string // the file that the driver was loaded from
}

// Shape is the size of a launch: blocks in the grid, threads per block, and dynamic shared memory
// per block.
type Shape struct {
	Grid, Block [3]int
	SharedBytes int
}

// Argument is the value of a kernel's parameter, of up to 8 bytes.
type Argument uint64

// A kernel's parameter has one of four types. Each function turns a value of one of them into an
// Argument.
func Address(p Pointer) Argument { return Argument(p) }
func Int(v int32) Argument       { return Argument(uint32(v)) }
func Long(v uint64) Argument     { return Argument(v) }
func Float(v float32) Argument   { return Argument(math.Float32bits(v)) }

// Resources are what a compiled kernel uses.
type Resources struct {
	Registers          int // per thread
	LocalBytes         int // per thread: spilled registers and arrays
	StaticSharedBytes  int // per block
	DynamicSharedBytes int // per block: the most that a launch may ask for
	MaxThreads         int // per block
}

// Traffic counts the copies between host and device. The copies of a graph count at every launch
// of it.
type Traffic struct {
	UpBytes, DownBytes int64
	Uploads, Downloads int
	Waits              int // how often the host waited for the device
}

// Minus returns the traffic since an earlier count.
func (t Traffic) Minus(earlier Traffic) Traffic {
	return Traffic{t.UpBytes - earlier.UpBytes, t.DownBytes - earlier.DownBytes,
		t.Uploads - earlier.Uploads, t.Downloads - earlier.Downloads, t.Waits - earlier.Waits}
}

func (t Traffic) plus(more Traffic) Traffic {
	return Traffic{t.UpBytes + more.UpBytes, t.DownBytes + more.DownBytes,
		t.Uploads + more.Uploads, t.Downloads + more.Downloads, t.Waits + more.Waits}
}

// Graph is recorded work that one call queues.
type Graph struct {
	Handle  uintptr
	Traffic Traffic // of one launch
}
