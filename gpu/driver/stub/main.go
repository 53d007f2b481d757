// Stub writes two files, with which gorgonia.org/cu compiles and links without CUDA. include/cuda.h
// declares the part of the driver API that cu and this repository use. trampolines.c defines each of
// these functions as a jump into the driver library, which is loaded when the program runs.
//
// The prototypes are inferred from the calls in cu's source. Names, numbers and layouts are those
// of NVIDIA's public documentation of the driver API. The ABI is that of CUDA 12.0, which later
// drivers still export.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
)

const module = "gorgonia.org/cu"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "stub:", err)
		os.Exit(1)
	}
}

func run() error {
	said, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		return fmt.Errorf("finding the source of %s: %w", module, err)
	}
	var source struct{ Dir string }
	if err := json.Unmarshal(said, &source); err != nil {
		return fmt.Errorf("finding the source of %s: %w", module, err)
	}
	used, err := infer(source.Dir)
	if err != nil {
		return fmt.Errorf("reading %s: %w", module, err)
	}
	functions := slices.Clone(companion)
	for _, f := range used.functions {
		functions = append(functions, f.constant())
	}
	var header, trampolines bytes.Buffer
	if err := writeHeader(&header, used, functions); err != nil {
		return err
	}
	writeTrampolines(&trampolines, functions)
	if err := os.WriteFile("include/cuda.h", header.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile("trampolines.c", trampolines.Bytes(), 0o644)
}
