//go:build cuda && linux && cgo

package gpu

import (
	"fmt"
	"testing"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
	"specula/gpu/driver"
)

// BenchmarkKernels says where the time of a pass goes. Each metric is the time of all launches of one kernel
// in a pass, in microseconds, measured by events before and after every launch. An event takes about as long
// as the gap between two launches, so the sum of the metrics is above the time of the same pass as a graph.
func BenchmarkKernels(b *testing.B) {
	for _, c := range []struct {
		size string
		typ  compute.DType
		rows int
	}{{"0.6B", compute.Q8_0, 1}, {"8B", compute.Q4_K, 1}, {"8B", compute.Q4_K, 5}, {"8B", compute.BF16, 5}} {
		b.Run(fmt.Sprintf("%s-%s/%d", c.size, gguf.TypeName(c.typ), c.rows), func(b *testing.B) {
			on := openMade(b)
			s := newSubject(b, on, c.size, c.typ, pastTokens()+32, pastTokens())
			s.read(b, pastTokens())
			warm(func() { s.pass(b, c.rows) })
			steps := on.latestSteps()
			for b.Loop() {
				for kernel, us := range on.kernelMicroseconds(b, steps) {
					b.ReportMetric(us, kernel+"-us")
				}
			}
		})
	}
}

// latestSteps returns the steps of the pass that was recorded last. Recordings of at most 10 steps are copies
// and choices, not passes.
func (b *made) latestSteps() (steps []step) {
	latest := 0
	for _, r := range b.recordings.byHash {
		if len(r.steps) > 10 && r.lastUse > latest {
			latest, steps = r.lastUse, r.steps
		}
	}
	return steps
}

// kernelMicroseconds runs the steps once, with an event before each and one at the end.
func (b *made) kernelMicroseconds(t testing.TB, steps []step) map[string]float64 {
	t.Helper()
	us := map[string]float64{}
	err := b.onDevice(func() error {
		events := make([]driver.Event, len(steps)+1)
		for i := range events {
			var err error
			if events[i], err = b.device.NewEvent(true); err != nil {
				return err
			}
			defer b.device.FreeEvent(events[i])
		}
		for i := range steps {
			if err := first(b.device.Record(events[i], b.stream), b.run(&steps[i])); err != nil {
				return err
			}
		}
		if err := first(b.device.Record(events[len(steps)], b.stream), b.device.Wait(b.stream)); err != nil {
			return err
		}
		for i := range steps {
			ms, err := b.device.Elapsed(events[i], events[i+1])
			if err != nil {
				return err
			}
			name := "copy"
			if steps[i].kernel != nil {
				name = steps[i].kernel.name
			}
			us[name] += 1000 * ms
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return us
}
