//go:build cuda && linux && cgo

// The driver is loaded when a device is opened, not when the program starts. So a run without a GPU
// needs no driver, and does not wait some tenths of a second for its initialisation.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <cuda.h>
#include "load.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library;
static char error[512], file[512];
static int state = -1;

static void try(const char *name) {
    if (library) return;
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library) snprintf(file, sizeof file, "%s", name);
    else if (!error[0]) snprintf(error, sizeof error, "%s", dlerror());
}

static void load(void) {
    const char *named = getenv("SPECULA_LIBCUDA");
    if (named && *named) {
        try(named);
    } else {
        try("libcuda.so.1");
        try("/usr/local/nvidia/lib64/libcuda.so.1");  // where containers get it
        try("/usr/lib/wsl/lib/libcuda.so.1");
    }
    if (!library) return;
    for (int i = 0; i < driver_names; i++) driver_entry[i] = dlsym(library, driver_name[i]);
    CUresult (*initialise)(unsigned) = (CUresult(*)(unsigned))dlsym(library, "cuInit");
    state = initialise ? (int)initialise(0) : CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
}

int driver_load(void) {
    pthread_once(&once, load);
    return state;
}
const char *driver_load_error(void) { return error; }
const char *driver_library(void) { return file; }
CUresult driver_missing(void) { return library ? CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND : CUDA_ERROR_NOT_INITIALIZED; }

// Package cu calls cuInit when the program starts, and ends the program if cuInit fails. So this cuInit
// does nothing; load calls the library's own.
HIDDEN CUresult cuInit(unsigned flags) {
    (void)flags;
    return CUDA_SUCCESS;
}
