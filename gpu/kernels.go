package gpu

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// kernel is a kernel that was found on the device. It has one launch: each run fills in new arguments.
type kernel struct {
	name        string
	function    driver.Function
	launch      driver.Launch
	arguments   int // how many the kernel takes
	sharedBytes int // the limit of dynamic shared memory that was set; 0: none was (see prepare)

	atOnce map[driver.Shape]int // blocks that the device runs at the same time, by a shape without its grid
}

// freeShared is the shared memory, in bytes, that a block may use on every GPU without SetDynamicShared.
const freeShared = 48 << 10

// library finds kernels by name. It loads a module when load is called, or when a kernel of the module is
// first asked for.
type library struct {
	device  device
	texts   map[string]string // the PTX, by module name
	code    machineCode
	home    map[string]string // by kernel name: the module that has it
	modules map[string]driver.Module
	kernels map[string]*kernel

	compiled    int   // how many of modules the driver compiled
	whyCompiled error // why it had to compile the first of them
}

// machineCode is *cuda.Code; tests put another in its place.
type machineCode interface {
	Module(name string) ([]byte, error)
	String() string
}

func newLibrary(d device, texts map[string]string, code machineCode) *library {
	l := &library{device: d, texts: texts, code: code, home: map[string]string{}, modules: map[string]driver.Module{},
		kernels: map[string]*kernel{}}
	for name, text := range texts {
		for _, rest := range strings.Split(text, "\n.visible .entry ")[1:] {
			kernel, _, _ := strings.Cut(rest, "(")
			l.home[kernel] = name
		}
	}
	return l
}

// kernel returns the kernel called name. arguments is the number of its arguments, sharedBytes the dynamic
// shared memory that a launch may ask for.
func (l *library) kernel(name string, arguments, sharedBytes int) (*kernel, error) {
	if k := l.kernels[name]; k != nil && k.sharedBytes >= sharedBytes {
		return k, nil
	}
	return l.prepare(name, arguments, sharedBytes)
}

// prepare loads a kernel, unless that is done already, and raises its limit of dynamic shared memory. Without
// a limit, a launch may ask for what the kernel's own arrays leave of freeShared.
func (l *library) prepare(name string, arguments, sharedBytes int) (*kernel, error) {
	k := l.kernels[name]
	err := l.device.Do(func() (err error) {
		if k == nil {
			if k, err = l.find(name, arguments); err != nil {
				return err
			}
			l.kernels[name] = k
		}
		if sharedBytes <= k.sharedBytes {
			return nil
		}
		if err = l.device.SetDynamicShared(k.function, sharedBytes); err == nil {
			k.sharedBytes = sharedBytes
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("preparing the kernel %s: %w", name, err)
	}
	return k, nil
}

// find loads the module of a kernel, unless that is done already, and finds the kernel in it. Call it on the
// device's thread.
func (l *library) find(name string, arguments int) (*kernel, error) {
	home, ok := l.home[name]
	if !ok {
		return nil, fmt.Errorf("it is in none of the %d modules of this build", len(l.texts))
	}
	if err := l.load(home); err != nil {
		return nil, err
	}
	function, err := l.device.Kernel(l.modules[home], name)
	if err != nil {
		return nil, err
	}
	launch, err := l.device.Prepare(function, driver.Shape{}, make([]driver.Argument, arguments)...)
	return &kernel{name: name, function: function, launch: launch, arguments: arguments, atOnce: map[driver.Shape]int{}}, err
}

// blocksAtOnce returns how many blocks of a shape the device runs at the same time.
func (l *library) blocksAtOnce(k *kernel, shape driver.Shape) (int, error) {
	shape.Grid = [3]int{}
	if blocks := k.atOnce[shape]; blocks > 0 {
		return blocks, nil
	}
	err := l.device.Do(func() error {
		each, err := l.device.BlocksAtOnce(k.function, shape)
		if err == nil {
			k.atOnce[shape] = max(1, each) * l.device.Info().Multiprocessors
		}
		return err
	})
	return k.atOnce[shape], err
}

// load loads a module, unless it is loaded. It takes the machine code. If there is none for this card, or if the
// driver refuses it, the driver compiles the PTX. Call load on the device's thread.
func (l *library) load(module string) error {
	if _, ok := l.modules[module]; ok {
		return nil
	}
	code, why := l.code.Module(module)
	if why == nil {
		loaded, err := l.device.LoadCode(module, code)
		if err == nil {
			l.modules[module] = loaded
			return nil
		}
		if !isRefusal(err) {
			return err
		}
		why = err
	}
	loaded, err := l.device.Load(module, l.texts[module])
	if err != nil {
		return fmt.Errorf("%w (the driver had to compile it: %v)", err, why)
	}
	l.modules[module] = loaded
	if l.compiled++; l.compiled == 1 {
		l.whyCompiled = why
	}
	return nil
}

// isRefusal reports whether the driver refused work, though memory sufficed and the device can still be used.
func isRefusal(err error) bool {
	var refused *driver.Error
	return errors.As(err, &refused) && refused.Unwrap() == nil
}

// describe says, for the user, what the kernels of the loaded modules are. Call it on the device's thread.
func (l *library) describe() string {
	if l.compiled == 0 {
		return fmt.Sprintf("kernels: %s, from the program", l.code)
	}
	return fmt.Sprintf("kernels: compiled by the driver, %d of %d modules, because %v", l.compiled, len(l.modules), l.whyCompiled)
}

// loadModules loads every module but those of weight formats, which Matrix loads.
func (b *Backend) loadModules() error {
	for _, module := range slices.Sorted(maps.Keys(b.modules.texts)) {
		if slices.ContainsFunc(cuda.Packed(), func(f *cuda.Format) bool { return f.Module == module }) {
			continue
		}
		if err := b.loadModule(module); err != nil {
			return err
		}
	}
	return nil
}

// loadModule loads a module, unless that is done already. If the device or its driver refuses it,
// the error wraps ErrNoDevice, unless memory ran out or the device was lost.
func (b *Backend) loadModule(module string) error {
	err := b.note(b.device.Do(func() error { return b.modules.load(module) }))
	if isRefusal(err) {
		return fmt.Errorf("%w that can be used: %s refuses the kernels: %w", ErrNoDevice, b.info.Name, err)
	}
	return err
}

// free unloads every module. Call it on the device's thread.
func (l *library) free() (err error) {
	for _, k := range l.kernels {
		l.device.FreeLaunch(k.launch)
	}
	for _, m := range l.modules {
		if failed := l.device.Unload(m); err == nil {
			err = failed
		}
	}
	clear(l.kernels)
	clear(l.modules)
	return err
}
