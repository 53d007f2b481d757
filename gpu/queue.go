package gpu

import (
	"fmt"

	"specula/gpu/driver"
)

// step makes a launch of a kernel without queueing it.
func (b *Backend) step(name string, shape driver.Shape, arguments ...driver.Argument) (step, error) {
	k, err := b.library.kernel(name, len(arguments), shape.SharedBytes)
	if err != nil {
		return step{}, b.note(err)
	}
	require(len(arguments) == k.arguments && k.arguments <= mostArguments, "a kernel with another number of arguments")
	s := step{kernel: k, shape: shape}
	copy(s.values[:], arguments)
	return s, nil
}

// launch appends a launch to the tape.
func (b *Backend) launch(name string, shape driver.Shape, arguments ...driver.Argument) error {
	s, err := b.step(name, shape, arguments...)
	if err == nil {
		b.tape.steps = append(b.tape.steps, s)
	}
	return err
}

// copyInside appends a copy within device memory to the tape.
func (b *Backend) copyInside(to, from driver.Pointer, bytes int) {
	b.tape.steps = append(b.tape.steps, step{values: [mostArguments]driver.Argument{driver.Address(to), driver.Address(from), driver.Long(uint64(bytes))}})
}

// flush hands the tape to the device's thread. It blocks only while tapesInFlight tapes are
// waiting there.
func (b *Backend) flush() {
	if len(b.tape.steps) == 0 {
		b.tape.reset()
		return
	}
	t := b.tape
	b.tape = <-b.spare
	b.rounded = rounded{}
	b.device.Submit(func() {
		defer func() {
			t.reset()
			b.spare <- t
		}()
		if b.failed == nil {
			b.failed = b.note(b.play(t))
		}
	})
}

// onDevice flushes, then runs f on the device's thread. If queued work failed before, it returns
// that error instead and does not run f; an error that leaves the device usable is returned once.
func (b *Backend) onDevice(f func() error) error {
	if err := b.usable(); err != nil {
		return err
	}
	b.flush()
	return b.device.Do(func() error {
		err := b.failed
		b.failed = nil
		if err == nil {
			err = f()
		}
		return b.note(err)
	})
}

// play queues the work of a tape: as a graph from the second time that the same steps come, else
// step by step.
func (b *Backend) play(t *tape) error {
	if err := b.uploads.join(b.device, b.stream); err != nil {
		return err
	}
	if err := b.inputs.send(b.device, b.stream, t.words); err != nil {
		return err
	}
	r, isNew, err := b.recordings.find(b.device, t)
	if err != nil {
		return err
	}
	if !isNew && r.state == seen {
		if r.graph, err = b.device.Capture(b.stream, func() error { return b.runSteps(t) }); err == nil {
			r.state = captured
		} else if b.note(err); b.lost.Load() != nil {
			return err
		} else {
			r.state = refused
		}
	}
	if r.state == captured {
		return b.device.Replay(r.graph, b.stream)
	}
	return b.runSteps(t)
}

// runSteps queues the work of a tape step by step.
func (b *Backend) runSteps(t *tape) error {
	for i := range t.steps {
		if err := b.run(&t.steps[i]); err != nil {
			return fmt.Errorf("step %d of %d: %w", i, len(t.steps), err)
		}
	}
	return nil
}

// run queues one step.
func (b *Backend) run(s *step) error {
	if s.kernel == nil {
		return b.device.Copy(b.stream, driver.Pointer(s.values[0]), driver.Pointer(s.values[1]), int64(s.values[2]))
	}
	b.device.Reshape(s.kernel.launch, s.shape)
	for i, v := range s.values[:s.kernel.arguments] {
		b.device.Set(s.kernel.launch, i, v)
	}
	if err := b.device.Run(s.kernel.launch, b.stream); err != nil {
		return fmt.Errorf("kernel %s: %w", s.kernel.name, err)
	}
	return nil
}
