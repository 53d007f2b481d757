// Package emulator runs kernels on the CPU, each thread of a block as a fiber. The kernels are compiled
// from the same sources as the PTX, by g++ with -DEMULATE. src/emulate.h says what is exact,
// machine/scheduler.cpp in which order threads run, and machine/warp.cpp what is checked.
//
// [Build] compiles a program, [Start] runs it as an [Emulator], [Emulator.Launch] runs a kernel in
// it. The kernels run in a separate process (machine/runner.cpp): so no test needs cgo, and a kernel
// that crashes does not end the test.
package emulator

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sys/cpu"
)

// ErrNoCompiler means that there is no g++ on this machine, so that nothing can be emulated.
var ErrNoCompiler = errors.New("there is no g++, which compiles kernels for the emulator")

// Build compiles kernels (*.cu files of kernels/cuda/src) and the emulator's machine into the program
// out. It finds the machine relative to the kernels' folder. defines, NAME or NAME=VALUE, are passed
// to the compiler.
func Build(out string, kernels []string, defines ...string) error {
	compiler, err := exec.LookPath("g++")
	if err != nil {
		return ErrNoCompiler
	}
	if len(kernels) == 0 {
		return errors.New("building the emulator: no kernels are given")
	}
	folder := filepath.Dir(kernels[0])
	machine := filepath.Join(folder, "../testbench/emulator/machine")
	sources := slices.Clone(kernels)
	for _, name := range []string{"scheduler", "fiber", "warp", "shared", "half", "runner"} {
		sources = append(sources, filepath.Join(machine, name+".cpp"))
	}
	flags := []string{"-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-DEMULATE",
		"-Wall", "-Wno-unknown-pragmas", "-I", folder}
	if cpu.X86.HasFMA {
		flags = append(flags, "-mfma") // otherwise the C library computes fma, which is slower
	}
	for _, d := range defines {
		flags = append(flags, "-D"+d)
	}
	objects, failures := make([]string, len(sources)), make([]error, len(sources))
	places := make(chan struct{}, runtime.GOMAXPROCS(0)) // one compiler per CPU
	var done sync.WaitGroup
	for i, source := range sources {
		done.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			objects[i] = fmt.Sprintf("%s.%d.o", out, i)
			failures[i] = compile(compiler, append(flags[:len(flags):len(flags)], "-c", "-o", objects[i],
				"-x", "c++", source))
		})
	}
	done.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	defer func() {
		for _, o := range objects {
			os.Remove(o)
		}
	}()
	return compile(compiler, append([]string{"-o", out}, objects...))
}

func compile(compiler string, args []string) error {
	if text, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("compiling kernels for the emulator: %w\n%s", err, text[:min(len(text), 4000)])
	}
	return nil
}

// Emulator is a running program of Build. It serves one launch at a time.
type Emulator struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	Seed    uint64 // of the schedule; 0 runs threads and blocks in order
}

// Start starts a program that Build made.
func Start(program string) (*Emulator, error) {
	c := exec.Command(program)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("starting the emulator: %w", err)
	}
	return &Emulator{command: c, in: in, out: bufio.NewReaderSize(out, 1<<16)}, nil
}

// Close ends the program.
func (e *Emulator) Close() error {
	e.in.Close()
	return e.command.Wait()
}

// At is a pointer argument to an element inside a buffer.
type At struct {
	Buffer any // a slice
	Index  int // of the element
}

// Launch runs a kernel over a grid of blocks. A slice among args is a buffer that the kernel may
// read and write; the same slice twice is the same buffer. nil is a null pointer. Other args are
// numbers of the parameter's size.
func (e *Emulator) Launch(kernel string, grid, block [3]int, sharedBytes int, args ...any) error {
	w := bufio.NewWriterSize(e.in, 1<<16)
	put := func(values ...any) {
		for _, v := range values {
			binary.Write(w, binary.LittleEndian, v) // an error stays in w until Flush
		}
	}
	put(uint32(len(kernel)), []byte(kernel))
	for _, size := range slices.Concat(grid[:], block[:], []int{sharedBytes}) {
		put(uint32(size))
	}
	put(e.Seed)
	buffers, parameters := LayOut(args)
	put(uint32(len(buffers)))
	for _, b := range buffers {
		put(uint32(binary.Size(b)), b)
	}
	put(uint32(len(parameters)), parameters)
	if err := w.Flush(); err != nil {
		return fmt.Errorf("launching %s: %w", kernel, err)
	}
	var length uint32
	if err := binary.Read(e.out, binary.LittleEndian, &length); err != nil {
		return fmt.Errorf("launching %s: the emulator died: %w", kernel, err)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(e.out, text); err != nil {
		return fmt.Errorf("launching %s: %w", kernel, err)
	}
	for _, b := range buffers {
		if err := binary.Read(e.out, binary.LittleEndian, b); err != nil {
			return fmt.Errorf("reading what %s left: %w", kernel, err)
		}
	}
	if length > 0 {
		return fmt.Errorf("kernel %s: %s", kernel, text)
	}
	return nil
}

// Parameter is a value or, if Buffer is above 0, an offset into buffer number Buffer−1.
type Parameter struct {
	Buffer, Bytes uint32
	Value         uint64
}

// LayOut turns the arguments of Launch into a list of buffers, each once, and the parameters that
// point into them.
func LayOut(args []any) (buffers []any, parameters []Parameter) {
	number := map[uintptr]uint32{}
	for _, arg := range args {
		at, ok := arg.(At)
		if !ok {
			at = At{arg, 0}
		}
		value := reflect.ValueOf(at.Buffer)
		switch {
		case at.Buffer == nil:
			parameters = append(parameters, Parameter{Bytes: 8})
		case value.Kind() == reflect.Slice:
			start := value.Pointer()
			if number[start] == 0 {
				buffers = append(buffers, at.Buffer)
				number[start] = uint32(len(buffers))
			}
			offset := at.Index * int(value.Type().Elem().Size())
			parameters = append(parameters, Parameter{number[start], 8, uint64(offset)})
		default:
			var bits bytes.Buffer
			if err := binary.Write(&bits, binary.LittleEndian, at.Buffer); err != nil {
				panic(fmt.Sprintf("%T is no parameter of a kernel", at.Buffer))
			}
			size := uint32(bits.Len())
			value := append(bits.Bytes(), make([]byte, 8)...)
			parameters = append(parameters, Parameter{0, size, binary.LittleEndian.Uint64(value)})
		}
	}
	return buffers, parameters
}
