// Package emulated builds the emulated CUDA driver for tests: a libcuda.so.1 that runs kernels on
// the CPU, each thread of a block as a fiber. A test calls [Use] before it opens a device.
// library/driver.h says what the driver checks and which environment variables control it.
package emulated

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// ErrNoCompiler means that there is no C++ compiler on this machine.
var ErrNoCompiler = errors.New("there is no C++ compiler, which the emulated CUDA driver is built with")

// Build builds a variant of the library, "", "asan" or "tsan", and returns the library's path.
func Build(variant string) (path string, err error) { return build(variant, "", nil) }

// BuildWith builds a variant in which the file edited replaces the kernel source of the same name.
// The library is written to that file's folder.
func BuildWith(variant, edited string) (path string, err error) {
	return build(variant, filepath.Dir(edited), []string{"REPLACE=" + edited, "OUT=" + filepath.Dir(edited)})
}

func build(variant, out string, settings []string) (string, error) {
	folder, err := Folder()
	if err != nil {
		return "", err
	}
	if out == "" {
		out = filepath.Join(folder, "out", variant)
	}
	command := exec.Command(filepath.Join(folder, "build"), variant)
	command.Env = append(os.Environ(), settings...)
	if said, err := command.CombinedOutput(); err != nil {
		if command.ProcessState != nil && command.ProcessState.ExitCode() == 3 {
			return "", ErrNoCompiler
		}
		return "", fmt.Errorf("building the emulated CUDA driver: %w\n%s", err, said)
	}
	return filepath.Join(out, "libcuda.so.1"), nil
}

// Folder returns the folder of the emulator's sources. It searches from the working directory upwards.
func Folder() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; at = filepath.Dir(at) {
		folder := filepath.Join(at, "gpu", "driver", "emulated", "library")
		if _, err := os.Stat(filepath.Join(folder, "build")); err == nil {
			return folder, nil
		}
		if at == filepath.Dir(at) {
			return "", errors.New("the folder gpu/driver/emulated/library is not above the working directory")
		}
	}
}

// Use lets the tests of this process use the emulated driver, unless SPECULA_LIBCUDA already names a
// driver. To test on a real GPU, set SPECULA_LIBCUDA=libcuda.so.1. Use skips the test if there is no
// C++ compiler.
func Use(t testing.TB) {
	t.Helper()
	if os.Getenv("SPECULA_LIBCUDA") != "" {
		return
	}
	path, err := Build("")
	if errors.Is(err, ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Set for the life of the process, which can load only one driver.
	if err := os.Setenv("SPECULA_LIBCUDA", path); err != nil {
		t.Fatal(err)
	}
}

// Emulated reports whether the tests run on the emulated driver, which can fail on request. A driver that
// SPECULA_LIBCUDA names by its whole path counts as emulated.
func Emulated() bool { return filepath.IsAbs(os.Getenv("SPECULA_LIBCUDA")) }
