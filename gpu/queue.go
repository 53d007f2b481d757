package gpu

import (
	"fmt"

	"specula/gpu/driver"
)

// lower appends a step for each operation. Call it outside of the device's thread, because
// preparing a kernel waits for that thread.
func (b *Backend) lower(steps []step, operations ...operation) ([]step, error) {
	for _, o := range operations {
		l := o.launch()
		s := step{shape: l.shape, values: l.arguments}
		if l.kernel != "" {
			var err error
			if s.kernel, err = b.modules.kernel(l.kernel, l.count, l.shape.SharedBytes); err != nil {
				return steps, b.note(err)
			}
			require(l.count == s.kernel.arguments, "a kernel with another number of arguments")
			if l.turns {
				most, err := b.modules.blocksAtOnce(s.kernel, s.shape)
				if err != nil {
					return steps, b.note(fmt.Errorf("the kernel %s: %w", l.kernel, err))
				}
				s.shape.Grid[0] = min(s.shape.Grid[0], most)
			}
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// flush hands the tape to the device's thread. It blocks while tapesInFlight tapes wait for that thread,
// and when a kernel is used for the first time. If the kernel of an operation cannot be loaded, the next wait
// returns the error.
func (b *Backend) flush() {
	if len(b.tape.operations) == 0 {
		b.tape.reset()
		return
	}
	t := b.tape
	b.tape = <-b.spare
	b.rounded = rounded{}
	var missing error
	joined := joinEpilogues(joinProducts(joinOperands(join(t.operations), t.scores)), b.epilogueMemory())
	t.steps, missing = b.lower(t.steps, fetchAhead(joined, b.fetchLimit)...)
	b.device.Submit(func() {
		defer func() {
			t.reset()
			b.spare <- t
		}()
		if b.failed == nil {
			b.failed = missing
		}
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
	err := b.device.Do(func() error {
		err := b.failed
		b.failed = nil
		if err == nil {
			err = f()
		}
		return b.note(err)
	})
	if err != nil {
		b.failures++
	}
	return err
}

// play queues the work of a tape: step by step if the same steps come for the first time or cannot be
// captured, else as a graph.
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
		if r.graph, err = b.device.Capture(b.stream, func() error { return b.runAll(t.steps) }); err == nil {
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
	return b.runAll(t.steps)
}

// runAll queues steps one by one. Call it on the device's thread.
func (b *Backend) runAll(steps []step) error {
	for i := range steps {
		if err := b.run(&steps[i]); err != nil {
			return fmt.Errorf("step %d of %d: %w", i, len(steps), err)
		}
	}
	return nil
}

// run queues one step.
func (b *Backend) run(s *step) error {
	if s.kernel == nil {
		return b.device.Copy(b.stream, driver.Pointer(s.values[0]), driver.Pointer(s.values[1]),
			int64(s.values[2]))
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
