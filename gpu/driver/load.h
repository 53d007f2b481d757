// The driver library that the trampolines call.
#pragma once

#define HIDDEN __attribute__((visibility("hidden")))

// The functions of the library, by the trampolines' numbers. An entry is null before loading, and if
// the library has no function of that name.
HIDDEN extern void *driver_entry[];
HIDDEN extern const char *const driver_name[];
HIDDEN extern const int driver_names;

// driver_load finds the library and initialises it, once. It returns the result of cuInit, an error if the
// library has no cuInit, or -1 if no library was found.
HIDDEN int driver_load(void);
HIDDEN const char *driver_load_error(void);  // why there is no library
HIDDEN const char *driver_library(void);     // the library's file
HIDDEN CUresult driver_missing(void);        // the result of a call that the library has no function for
