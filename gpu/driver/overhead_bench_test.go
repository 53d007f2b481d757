//go:build cuda && linux && cgo

package driver

import (
	"os"
	"testing"
	"time"
)

// tinyShapes reports a rehearsal: a run that only checks that the benchmarks work.
func tinyShapes() bool { return os.Getenv("SPECULA_CHECK_SHAPES") == "tiny" }

// scaled returns n, or tiny in a rehearsal.
func scaled(n, tiny int) int {
	if tinyShapes() {
		return tiny
	}
	return n
}

// deviceMS is the device's time in milliseconds for what queue queues: the least of a few runs,
// because disturbances only add.
func deviceMS(d *Device, s Stream, queue func()) float64 {
	from, to := get(d.NewEvent(true)), get(d.NewEvent(true))
	least := 0.0
	for i := range scaled(10, 2) {
		must(d.Record(from, s))
		queue()
		must(d.Record(to, s))
		must(d.Wait(s))
		if ms := get(d.Elapsed(from, to)); i == 0 || ms < least {
			least = ms
		}
	}
	must(d.FreeEvent(from))
	must(d.FreeEvent(to))
	return least
}

// hostMS is the host's time in milliseconds to queue the work. The device may finish later.
func hostMS(d *Device, s Stream, queue func()) float64 {
	began := time.Now()
	queue()
	ms := float64(time.Since(began)) / 1e6
	must(d.Wait(s))
	return ms
}

// launches is how many launches the benchmarks of overhead do.
func launches() int { return scaled(200, 4) }

// The cost of launching a kernel that does next to nothing, one launch at a time.
func BenchmarkLaunch(b *testing.B) {
	d := open(b)
	on(b, d, func() {
		a := newAdder(d, []float32{1}, []float32{2})
		queue := func() {
			for range launches() {
				must(d.Run(a.launch, a.stream))
			}
		}
		queue()
		for b.Loop() {
			b.ReportMetric(1e3*hostMS(d, a.stream, queue)/float64(launches()), "host-us")
			b.ReportMetric(1e3*deviceMS(d, a.stream, queue)/float64(launches()), "device-us")
		}
	})
}

// The same launches as one graph.
func BenchmarkGraph(b *testing.B) {
	d := open(b)
	on(b, d, func() {
		a := newAdder(d, []float32{1}, []float32{2})
		graph := get(d.Capture(a.stream, func() error {
			for range launches() {
				must(d.Run(a.launch, a.stream))
			}
			return nil
		}))
		replay := func() { must(d.Replay(graph, a.stream)) }
		replay()
		for b.Loop() {
			b.ReportMetric(1e3*hostMS(d, a.stream, replay), "host-us-a-graph")
			b.ReportMetric(1e3*deviceMS(d, a.stream, replay)/float64(launches()), "device-us-a-launch")
		}
		must(d.FreeGraph(graph))
	})
}

// From the call to the answer: four bytes up, a launch, four bytes down, one wait.
func BenchmarkRoundTrip(b *testing.B) {
	d := open(b)
	on(b, d, func() {
		a := newAdder(d, []float32{1}, []float32{2})
		host := get(d.AllocHost(8))
		for b.Loop() {
			began := time.Now()
			for range launches() {
				must(d.UploadAsync(a.stream, a.y, host[:4]))
				must(d.Run(a.launch, a.stream))
				must(d.DownloadAsync(a.stream, host[4:], a.x))
				must(d.Wait(a.stream))
			}
			b.ReportMetric(float64(time.Since(began))/1e3/float64(launches()), "host-us")
		}
	})
}
