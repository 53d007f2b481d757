//go:build cuda && linux && cgo

package driver

/*
#include <cuda.h>

enum { log_bytes = 8192 };

// load_module compiles PTX text; log receives the messages of the compiler.
static CUresult load_module(uintptr_t *module, const char *ptx, char *log) {
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)log_bytes};
    return cuModuleLoadDataEx((CUmodule *)module, ptx, 2, options, values);
}
static CUresult load_code(uintptr_t *module, const void *image) {
    return cuModuleLoadDataEx((CUmodule *)module, image, 0, 0, 0);
}
static CUresult find_function(uintptr_t *function, uintptr_t module, const char *name) {
    return cuModuleGetFunction((CUfunction *)function, (CUmodule)module, name);
}
static CUresult unload_module(uintptr_t module) { return cuModuleUnload((CUmodule)module); }
static CUresult get_attribute(int *value, CUfunction_attribute attribute, uintptr_t function) {
    return cuFuncGetAttribute(value, attribute, (CUfunction)function);
}
static CUresult blocks_at_once(int *blocks, uintptr_t function, int threads, size_t shared_bytes) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (CUfunction)function, threads, shared_bytes);
}
static CUresult allow_shared(uintptr_t function, int bytes) {
    return cuFuncSetAttribute((CUfunction)function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"
)

// Load compiles PTX for the device. The error includes the messages of the driver's compiler; name
// is used only there.
func (d *Device) Load(name, ptx string) (Module, error) {
	text := C.CString(ptx)
	defer C.free(unsafe.Pointer(text))
	log := (*C.char)(C.calloc(C.log_bytes, 1))
	defer C.free(unsafe.Pointer(log))
	var module C.uintptr_t
	code := C.load_module(&module, text, log)
	doing := "compiling the kernels of " + name
	if said := strings.TrimSpace(C.GoString(log)); code != C.CUDA_SUCCESS && said != "" {
		doing += " (" + said + ")"
	}
	return Module(module), refused(doing, code)
}

// LoadCode loads machine code, a file of NVIDIA's format cubin; name is used only in the error.
func (d *Device) LoadCode(name string, code []byte) (Module, error) {
	if len(code) == 0 {
		return 0, fmt.Errorf("the machine code of %s is empty", name)
	}
	var module C.uintptr_t
	result := C.load_code(&module, unsafe.Pointer(&code[0]))
	return Module(module), refused("loading the machine code of "+name, result)
}

// Unload frees a module. Its kernels must have ended.
func (d *Device) Unload(m Module) error {
	return refused("unloading kernels", C.unload_module(C.uintptr_t(m)))
}

// Kernel finds a kernel in a module.
func (d *Device) Kernel(m Module, name string) (Function, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var function C.uintptr_t
	code := C.find_function(&function, C.uintptr_t(m), text)
	return Function(function), refused("finding the kernel "+name, code)
}

// SetDynamicShared lets launches of a kernel ask for up to this many bytes of dynamic shared memory. Without it
// launches may ask for 48 KiB less the arrays that the kernel has in shared memory.
func (d *Device) SetDynamicShared(f Function, bytes int) error {
	return refused(fmt.Sprintf("allowing a kernel %d bytes of shared memory", bytes),
		C.allow_shared(C.uintptr_t(f), C.int(bytes)))
}

// BlocksAtOnce returns how many blocks of this shape one multiprocessor runs at the same time.
func (d *Device) BlocksAtOnce(f Function, shape Shape) (int, error) {
	var blocks C.int
	code := C.blocks_at_once(&blocks, C.uintptr_t(f), C.int(shape.Block[0]), C.size_t(shape.SharedBytes))
	return int(blocks), refused("asking how many blocks of a kernel run at once", code)
}

// Resources returns what the compiled kernel uses.
func (d *Device) Resources(f Function) (Resources, error) {
	var r Resources
	for attribute, value := range map[C.CUfunction_attribute]*int{
		C.CU_FUNC_ATTRIBUTE_NUM_REGS:                      &r.Registers,
		C.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:              &r.LocalBytes,
		C.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:             &r.StaticSharedBytes,
		C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: &r.DynamicSharedBytes,
		C.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:         &r.MaxThreads,
	} {
		var n C.int
		if err := refused("describing a kernel", C.get_attribute(&n, attribute, C.uintptr_t(f))); err != nil {
			return Resources{}, err
		}
		*value = int(n)
	}
	return r, nil
}
