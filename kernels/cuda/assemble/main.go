// Command assemble makes the machine code in kernels/cuda/cubin: NVIDIA's assembler translates the PTX of every
// module for every target. Run it by make cubins, which also gets the assembler. The same PTX and the same
// version of the assembler give the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"

	"specula/kernels/cuda"
)

const folder = "kernels/cuda"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage, at the root of the repository: go run ./kernels/cuda/assemble PTXAS")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "assemble:", err)
		os.Exit(1)
	}
}

func run(assembler string) error {
	var archives [][]int // the targets of each
	for _, target := range cuda.Targets() {
		last := len(archives) - 1
		if last >= 0 && cuda.Archive(archives[last][0]) == cuda.Archive(target) {
			archives[last] = append(archives[last], target)
		} else {
			archives = append(archives, []int{target})
		}
	}
	failures := make([]error, len(archives))
	var running sync.WaitGroup
	for i, targets := range archives {
		running.Go(func() { failures[i] = write(assembler, targets) })
	}
	running.Wait()
	return errors.Join(failures...)
}

// write makes the archive of some targets.
func write(assembler string, targets []int) error {
	var content bytes.Buffer
	files := tar.NewWriter(&content)
	add := func(name string, data []byte) error {
		err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))})
		if err == nil {
			_, err = files.Write(data)
		}
		return err
	}
	var hashes bytes.Buffer
	for _, module := range cuda.Modules() {
		ptx, err := cuda.PTX(module)
		if err != nil {
			return err
		}
		hashes.WriteString(cuda.HashLine(module, ptx))
	}
	if err := add(cuda.HashesFile, hashes.Bytes()); err != nil {
		return err
	}
	for _, target := range targets {
		for _, module := range cuda.Modules() {
			code, err := assemble(assembler, module, target)
			if err != nil {
				return err
			}
			if err := add(fmt.Sprintf("sm_%d/%s.cubin", target, module), code); err != nil {
				return err
			}
		}
	}
	if err := files.Close(); err != nil {
		return err
	}
	return compress(content.Bytes(), filepath.Join(folder, "cubin", cuda.Archive(targets[0])))
}

// assemble returns the machine code of a module.
func assemble(assembler, module string, target int) ([]byte, error) {
	out, err := os.MkdirTemp("", "specula-assemble-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(out)
	ptx, code := filepath.Join(folder, "ptx", module+".ptx"), filepath.Join(out, module+".cubin")
	said, err := exec.Command(assembler, fmt.Sprintf("-arch=sm_%d", target), ptx, "-o", code).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("assembling %s for sm_%d: %w\n%s", ptx, target, err, said)
	}
	return os.ReadFile(code)
}

// compress writes a file. The window covers the code of all targets of an archive, which have much in common.
func compress(content []byte, path string) error {
	const window = 32 << 20
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window),
		zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	defer encoder.Close()
	compressed := encoder.EncodeAll(content, nil)
	fmt.Printf("%s: %d bytes, %d decompressed\n", path, len(compressed), len(content))
	return os.WriteFile(path, compressed, 0o644)
}
