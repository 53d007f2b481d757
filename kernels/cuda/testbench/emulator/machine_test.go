package emulator_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/checks"
	"specula/kernels/cuda/testbench/emulator"
	"specula/kernels/cuda/testbench/sim"
)

// layerKernels are all kernels of a pass except the matrix products and sampling.
var layerKernels = []string{"../../src/attend_float.cu", "../../src/attend_half.cu", "../../src/cache.cu",
	"../../src/combine.cu", "../../src/elementwise.cu",
	"../../src/experts.cu", "../../src/heads.cu", "../../src/norm.cu",
	"../../src/recurrence.cu", "../../src/rope.cu"}

// A test of planted bugs sets these for the process that it starts: another program for the
// emulator, another folder of PTX for the simulator, and the only machine to run on.
const (
	emulatorVariable = "SPECULA_TEST_EMULATOR"
	ptxVariable      = "SPECULA_TEST_PTX"
	machineVariable  = "SPECULA_TEST_MACHINE"
)

// program is the emulator with these kernels, built once; "" without a compiler.
var program string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if program = os.Getenv(emulatorVariable); program != "" || os.Getenv(ptxVariable) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "emulator")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "kernels")
	if err := emulator.Build(program, layerKernels); errors.Is(err, emulator.ErrNoCompiler) {
		program = ""
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// machines run kernels: the emulator their sources, the simulator their PTX. The seed draws the
// schedule; 0 is in order.
var machines = []struct {
	name  string
	seed  uint64
	start func(t *testing.T, seed uint64) checks.Launch
}{
	{"emulator", 0, emulated}, {"emulator", 1, emulated}, {"emulator", 2, emulated},
	{"emulator", 3, emulated},
	{"simulator", 0, simulated}, {"simulator", 1, simulated},
}

// onEveryMachine runs a test on both machines, each with a few schedules.
func onEveryMachine(t *testing.T, test func(t *testing.T, launch checks.Launch)) {
	t.Helper()
	for _, m := range machines {
		t.Run(fmt.Sprintf("%s, seed %d", m.name, m.seed), func(t *testing.T) { test(t, m.start(t, m.seed)) })
	}
}

func only(t *testing.T, machine string) {
	if m := os.Getenv(machineVariable); m != "" && m != machine {
		t.Skipf("only the %s is asked for", m)
	}
}

// emulated runs kernels on the emulator.
func emulated(t *testing.T, seed uint64) checks.Launch {
	t.Helper()
	only(t, "emulator")
	if program == "" {
		t.Skip("there is no g++ to compile the emulator")
	}
	e, err := emulator.Start(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	e.Seed = seed
	return func(kernel string, grid, block [3]int, args ...any) {
		t.Helper()
		if err := e.Launch(kernel, grid, block, 0, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// kernels are the kernels of all embedded modules, or of those in the folder that ptxVariable names.
var kernels = sync.OnceValues(func() (map[string]*sim.Kernel, error) {
	found := map[string]*sim.Kernel{}
	for _, name := range cuda.Modules() {
		text, err := cuda.PTX(name)
		if folder := os.Getenv(ptxVariable); folder != "" {
			var changed []byte
			if changed, err = os.ReadFile(filepath.Join(folder, name+".ptx")); errors.Is(err,
				os.ErrNotExist) {
				continue
			}
			text = string(changed)
		}
		if err != nil {
			return nil, err
		}
		m, err := sim.Load(text)
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", name, err)
		}
		for _, k := range m.Kernels() {
			found[k], _ = m.Kernel(k)
		}
	}
	return found, nil
})

func simulated(t *testing.T, seed uint64) checks.Launch {
	t.Helper()
	only(t, "simulator")
	all, err := kernels()
	if err != nil {
		t.Fatal(err)
	}
	return func(kernel string, grid, block [3]int, args ...any) {
		t.Helper()
		if all[kernel] == nil {
			t.Fatalf("no module has the kernel %s", kernel)
		}
		t.Logf("simulated kernel %s", kernel)
		m := sim.NewMachine()
		m.Seed = seed
		if err := simulate(m, all[kernel], grid, block, args); err != nil {
			t.Fatal(err)
		}
	}
}

// simulate launches a kernel on m with the arguments of emulator.Launch.
func simulate(m *sim.Machine, kernel *sim.Kernel, grid, block [3]int, args []any) error {
	buffers, parameters := emulator.LayOut(args)
	pointers := make([]sim.Pointer, len(buffers))
	for i, b := range buffers {
		data, err := binary.Append(nil, binary.LittleEndian, b)
		if err != nil {
			return err
		}
		pointers[i] = m.Alloc(len(data))
		if err := m.Write(pointers[i], data); err != nil {
			return err
		}
	}
	given := make([]any, len(parameters))
	for i, p := range parameters {
		if p.Buffer > 0 {
			p.Value += uint64(pointers[p.Buffer-1])
		}
		given[i] = binary.LittleEndian.AppendUint64(nil, p.Value)[:p.Bytes]
	}
	if err := m.Launch(kernel, dim(grid), dim(block), 0, given...); err != nil {
		return err
	}
	for i, b := range buffers {
		data := make([]byte, binary.Size(b))
		if err := m.Read(pointers[i], data); err != nil {
			return err
		}
		if _, err := binary.Decode(data, binary.LittleEndian, b); err != nil {
			return err
		}
	}
	return nil
}

func dim(size [3]int) sim.Dim { return sim.Dim{X: size[0], Y: size[1], Z: size[2]} }
