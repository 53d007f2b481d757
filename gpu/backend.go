package gpu

import (
	"errors"
	"fmt"
	"sync/atomic"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// Backend computes on a GPU. It serves one goroutine at a time. Open makes one.
type Backend struct {
	device  device
	info    driver.Info
	modules *library

	stream  driver.Stream // all work except the upload of weights
	uploads uploader
	tape    *tape
	spare   chan *tape // tapes that the device's thread has finished, to be used again
	scratch scratch
	rounded rounded        // which rows scratch.rounded holds
	arrived driver.Pointer // mostArrivals counters of finished blocks (epilogue.go), all 0 between launches

	fetchLimit fetchLimit // what attention may fetch on this card

	lost      atomic.Pointer[error] // why the device can no longer be used
	allocated map[driver.Pointer]int64
	failures  int                         // how often onDevice found that work had failed
	tables    map[*float32]driver.Pointer // sines and cosines of RoPE, by the address of the host's table

	// Use the fields below on the device's thread only. inputs.words is an exception: it never changes.
	failed     error // error of queued work; the next wait returns it
	recordings recordings
	inputs     inputs
	arrivals   []byte // pinned memory for data that comes to the host
}

var _ compute.Backend = (*Backend)(nil)

// tapesInFlight bounds how many tapes may wait for the device's thread before flush blocks.
const tapesInFlight = 4

// newBackend returns a Backend, whose Close closes the device. On error newBackend closes the device.
func newBackend(d device) (*Backend, error) {
	texts, err := kernelTexts()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	info := d.Info()
	b := &Backend{
		device: d, info: info, modules: newLibrary(d, texts, cuda.CodeFor(10*info.Major+info.Minor)),
		spare: make(chan *tape, tapesInFlight), allocated: map[driver.Pointer]int64{},
		tables: map[*float32]driver.Pointer{}, fetchLimit: fetchLimitOf(info),
		recordings: recordings{byHash: map[uint64]*recording{}},
	}
	b.tape = &tape{}
	for range tapesInFlight {
		b.spare <- &tape{}
	}
	err = d.Do(func() (err error) {
		b.stream, err = d.NewStream()
		if err == nil {
			err = b.inputs.open(d)
		}
		if err == nil {
			err = b.uploads.open(d)
		}
		return err
	})
	if err == nil {
		err = b.openArrivals()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("preparing %s: %w", b.info.Name, err), b.Close())
	}
	return b, nil
}

// promptRows is the number of rows of a prompt in one pass. With fewer, the products of q, k, v and of
// the attention's output have fewer blocks than most cards have multiprocessors.
const promptRows = 512

// Info describes the device. MemoryBytes is the memory that is free now, on the device.
func (b *Backend) Info() compute.Info {
	info := compute.Info{
		Kind: "cuda", Name: b.info.Name, MemoryBytes: b.info.MemoryBytes, PromptRows: promptRows,
		Detail: fmt.Sprintf("compute capability %d.%d, %d multiprocessors, %d MiB of memory, CUDA %d.%d, driver library %s", b.info.Major, b.info.Minor,
			b.info.Multiprocessors, b.info.MemoryBytes>>20, b.info.Version/1000, b.info.Version%1000/10,
			b.info.Library),
	}
	// If the device does not answer, MemoryBytes stays the total memory of the device.
	_ = b.device.Do(func() error {
		info.Detail += "; " + b.modules.describe()
		free, _, err := b.device.Memory()
		if err == nil {
			info.MemoryBytes = free
		}
		return err
	})
	return info
}

// Close waits for the device and frees everything on it. For a device that was lost it returns nil,
// because nothing is left to free.
func (b *Backend) Close() error {
	err := b.device.Do(func() error {
		errs := []error{b.uploads.free(b.device), b.recordings.free(b.device), b.inputs.free(b.device),
			b.modules.free()}
		for p := range b.allocated {
			errs = append(errs, b.device.Free(p))
		}
		if b.arrivals != nil {
			errs = append(errs, b.device.FreeHost(b.arrivals))
		}
		if b.stream != 0 {
			errs = append(errs, b.device.FreeStream(b.stream))
		}
		return errors.Join(errs...)
	})
	clear(b.allocated)
	if b.lost.Load() != nil {
		err = nil // a lost device has already dropped everything, so there is nothing to free
	}
	closed := b.device.Close()
	if b.lost.Load() != nil {
		closed = nil
	}
	return errors.Join(err, closed)
}

// alloc reserves device memory. what says in errors what the memory is for.
func (b *Backend) alloc(what string, bytes int64) (p driver.Pointer, err error) {
	if err := b.usable(); err != nil {
		return 0, err
	}
	err = b.device.Do(func() error {
		p, err = b.device.Alloc(max(bytes, 1))
		return err
	})
	if err != nil {
		return 0, b.note(fmt.Errorf("reserving %.1f MiB of GPU memory for %s: %w", float64(bytes)/(1<<20),
			what, err))
	}
	b.allocated[p] = bytes
	return p, nil
}

func (b *Backend) release(p driver.Pointer) error {
	if _, mine := b.allocated[p]; !mine {
		return nil
	}
	delete(b.allocated, p)
	err := b.device.Do(func() error { return b.device.Free(p) })
	if b.lost.Load() != nil {
		return nil
	}
	return err
}

// usable returns an error if the device was lost.
func (b *Backend) usable() error {
	if lost := b.lost.Load(); lost != nil {
		return fmt.Errorf("the GPU failed earlier and cannot be used again: start specula anew, or with --device cpu: %w", *lost)
	}
	return nil
}

// note remembers an error that means the device is lost, and returns every error unchanged.
func (b *Backend) note(err error) error {
	if errors.Is(err, compute.ErrDeviceLost) {
		b.lost.CompareAndSwap(nil, &err)
	}
	return err
}

// require panics if a caller broke the contract of engine/compute.
func require(ok bool, broken string) {
	if !ok {
		panic("gpu: " + broken)
	}
}
