package sim

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Machine is the memory of a GPU, and launches kernels. It serves one goroutine at a time.
type Machine struct {
	// A Seed other than 0 shuffles blocks and warps, which changes results that depend on their order.
	Seed uint64
	// Workers is how many blocks run at the same time; 0 is one per CPU.
	Workers int
	// MostSteps bounds the instructions of one warp in one block; 0 means 1<<28.
	MostSteps uint64

	memory memory
	loaded map[*Module]map[*variable]Pointer
	steps  atomic.Uint64
}

// NewMachine returns a machine without allocations.
func NewMachine() *Machine { return &Machine{loaded: map[*Module]map[*variable]Pointer{}} }

// Dim is the size of a grid or a block, or a place in it. A size of 0 counts as 1.
type Dim struct{ X, Y, Z int }

func (d Dim) count() int { return d.X * d.Y * d.Z }

func (d Dim) orOne() Dim { return Dim{max(d.X, 1), max(d.Y, 1), max(d.Z, 1)} }

// Alloc returns n bytes of memory, all 0xff, aligned to 512.
func (m *Machine) Alloc(n int) Pointer { return m.memory.allocate(n) }

// Free frees an allocation. Its address is never used again.
func (m *Machine) Free(p Pointer) error { return m.memory.free(p) }

// Write copies data to p.
func (m *Machine) Write(p Pointer, data []byte) error {
	to, err := m.memory.at(uint64(p), len(data), &allocation{})
	if err != nil {
		return fmt.Errorf("writing to the device: %w", err)
	}
	copy(to, data)
	return nil
}

// Read copies from p to data.
func (m *Machine) Read(p Pointer, data []byte) error {
	from, err := m.memory.at(uint64(p), len(data), &allocation{})
	if err != nil {
		return fmt.Errorf("reading from the device: %w", err)
	}
	copy(data, from)
	return nil
}

// Prefetched returns the addresses that the last launch prefetched, in no order.
func (m *Machine) Prefetched() []Pointer { return m.memory.prefetched }

// Steps is the number of instructions that warps have run on this machine.
func (m *Machine) Steps() uint64 { return m.steps.Load() }

const (
	dynamicMost = 227 << 10
	defaultMost = 1 << 28
)

// launch holds what the blocks of a grid share.
type launch struct {
	kernel      *Kernel
	memory      *memory
	variables   map[*variable]Pointer
	grid, block Dim
	sharedBytes int
	parameters  []byte
	mostSteps   uint64
}

// Launch runs a grid to its end. sharedBytes is the size of dynamic shared memory. Arguments are
// Pointers, integers and floats of the exact size of the kernel's parameters, or []byte for a
// struct.
func (m *Machine) Launch(k *Kernel, grid, block Dim, sharedBytes int, arguments ...any) error {
	l := &launch{kernel: k, memory: &m.memory, grid: grid.orOne(), block: block.orOne(),
		sharedBytes: sharedBytes, mostSteps: m.MostSteps}
	if l.mostSteps == 0 {
		l.mostSteps = defaultMost
	}
	if err := l.check(); err != nil {
		return fmt.Errorf("launching %s: %w", k.name, err)
	}
	var err error
	if l.parameters, err = k.pack(arguments); err != nil {
		return fmt.Errorf("launching %s: %w", k.name, err)
	}
	l.variables = m.load(k.module)
	m.memory.forgetUses()
	if err := m.runGrid(l); err != nil {
		return err
	}
	if err := m.memory.checkUses(); err != nil {
		return fmt.Errorf("kernel %s: %w", k.name, err)
	}
	return nil
}

func (l *launch) check() error {
	threads, static := l.block.count(), l.kernel.staticBytes()
	switch {
	case threads > 1024 || l.block.Z > 64:
		return fmt.Errorf("%d threads a block; the most are 1024", threads)
	case threads > l.kernel.most || l.kernel.exact && threads != l.kernel.most:
		return fmt.Errorf("%d threads a block, the kernel is made for %d", threads, l.kernel.most)
	case static > staticMost:
		return fmt.Errorf("%d bytes of static shared memory; the most are %d", static, staticMost)
	case l.sharedBytes < 0 || static+l.sharedBytes > dynamicMost:
		return fmt.Errorf("%d bytes of shared memory; the most are %d", static+l.sharedBytes, dynamicMost)
	case l.grid.Y > 65535 || l.grid.Z > 65535:
		return fmt.Errorf("a grid of %v; Y and Z are at most 65535", l.grid)
	}
	return nil
}

// pack lays out the arguments as the kernel's parameters.
func (k *Kernel) pack(arguments []any) ([]byte, error) {
	if len(arguments) != len(k.parameters) {
		return nil, fmt.Errorf("%d arguments for %d parameters", len(arguments), len(k.parameters))
	}
	var out []byte
	for i, a := range arguments {
		var data []byte
		switch v := a.(type) {
		case Pointer:
			data = binary.LittleEndian.AppendUint64(nil, uint64(v))
		case []byte:
			data = v
		case int:
			return nil, fmt.Errorf("argument %d is an int; say int32 or int64", i)
		default:
			var err error
			if data, err = binary.Append(nil, binary.LittleEndian, a); err != nil {
				return nil, fmt.Errorf("argument %d of type %T: %w", i, a, err)
			}
		}
		p := k.parameters[i]
		if len(data) != p.bytes {
			return nil, fmt.Errorf("argument %d of type %T has %d bytes, the parameter has %d", i, a,
				len(data), p.bytes)
		}
		out = append(out, make([]byte, p.offset-len(out))...)
		out = append(out, data...)
	}
	return out, nil
}

// load puts the variables of a module into memory, once.
func (m *Machine) load(module *Module) map[*variable]Pointer {
	places, ok := m.loaded[module]
	if !ok {
		places = map[*variable]Pointer{}
		for _, v := range module.variables {
			places[v] = m.Alloc(v.bytes)
			data := v.initial
			if data == nil {
				data = make([]byte, v.bytes) // PTX: zero unless initialised
			}
			if err := m.Write(places[v], data); err != nil {
				panic(err)
			}
		}
		m.loaded[module] = places
	}
	return places
}

// runGrid runs the blocks, several at a time. Of several errors it returns that of the lowest
// block.
func (m *Machine) runGrid(l *launch) error {
	total := l.grid.count()
	order := rand.New(rand.NewPCG(m.Seed, 0)).Perm(total)
	if m.Seed == 0 {
		slices.Sort(order)
	}
	workers := m.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	failures := make([]failure, min(workers, total))
	var group sync.WaitGroup
	for i := range failures {
		group.Go(func() { failures[i] = m.runBlocks(l, order, &next) })
	}
	group.Wait()
	first := failure{}
	for _, f := range failures {
		if f.err != nil && (first.err == nil || f.block < first.block) {
			first = f
		}
	}
	return first.err
}

type failure struct {
	block int
	err   error
}

// runBlocks runs one block after another until none is left. A block that fails ends the grid.
func (m *Machine) runBlocks(l *launch, order []int, next *atomic.Int64) failure {
	b := newBlock(l)
	for {
		i := next.Add(1) - 1
		if i >= int64(len(order)) {
			return failure{}
		}
		at := order[i]
		place := Dim{at % l.grid.X, at / l.grid.X % l.grid.Y, at / l.grid.X / l.grid.Y}
		var random *rand.Rand
		if m.Seed != 0 {
			random = rand.New(rand.NewPCG(m.Seed, uint64(at)+1))
		}
		err := b.run(place, random)
		for _, w := range b.warps {
			m.steps.Add(w.ran)
		}
		if err != nil {
			next.Store(int64(len(order)))
			return failure{at, fmt.Errorf("kernel %s, block (%d,%d,%d): %w", l.kernel.name, place.X,
				place.Y, place.Z, err)}
		}
	}
}
