package gpu

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// recorder is a device that computes nothing. It records what it was asked to do and what it has
// not freed, and it can fail at any call.
type recorder struct {
	*driver.Thread
	t        *testing.T
	log      []string       // queued work: "rope" (a kernel), "graph", "up 24" (bytes), "down 8", "wait", …
	live     map[string]int // how many were given and not freed, by kind: memory, streams, …
	handles  uint64
	atOnce   int // blocks of any kernel on a multiprocessor
	calls    int
	failAt   int // number of the call that fails, from 1; 0: none
	failure  error
	lost     bool // every call after the failure fails too
	names    map[driver.Function]string
	runs     map[driver.Launch]string
	shapes   map[driver.Launch]driver.Shape
	values   map[driver.Launch]*[mostArguments]driver.Argument
	onRun    func(kernel string, shape driver.Shape, arguments []driver.Argument) // nil: nothing
	prepared map[string]int                                                       // by kernel: the number of arguments
	shared   map[string]int                                                       // by kernel: the dynamic shared memory that launches may ask for
	capture  *[]string
	onLoad   func(form, module string) error // form is "PTX" or "machine code"; nil: nothing
	down     byte                            // every byte of device memory reads as this
	traffic  driver.Traffic
	total    int64
	sizes    map[driver.Pointer]int64 // bytes of device memory that was given and not freed
	most     int64                    // the largest sum of sizes so far
	card     driver.Info
}

func newRecorder(t *testing.T) *recorder {
	return &recorder{Thread: driver.StartThread(), t: t, live: map[string]int{}, card: driver.Info{Name: "recorder", Major: 8, Multiprocessors: 132,
		SharedBytes: 96 << 10, Version: 12000, L2Bytes: 50 << 20, BytesPerUS: 4_800_000},
		names: map[driver.Function]string{}, runs: map[driver.Launch]string{}, shapes: map[driver.Launch]driver.Shape{},
		values: map[driver.Launch]*[mostArguments]driver.Argument{}, prepared: map[string]int{}, shared: map[string]int{}, sizes: map[driver.Pointer]int64{}, total: 8 << 30, atOnce: 1 << 20}
}

// recorded is a model of four rows on a recorder, with a cache.
func recorded(t *testing.T) (*recorder, *Backend, *model.Model, compute.Cache) {
	t.Helper()
	d := newRecorder(t)
	b, err := newBackend(d)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(t.Context(), b, file(t), model.Options{MaxTokens: 64, MaxRows: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	return d, b, m, cache
}

// call counts a call and returns the failure if it is due.
func (r *recorder) call(what string) error {
	r.calls++
	if r.failAt > 0 && (r.calls == r.failAt || r.lost && r.calls > r.failAt) {
		return fmt.Errorf("%s: %w", what, r.failure)
	}
	return nil
}

func (r *recorder) give(what string) (uint64, error) {
	if err := r.call(what); err != nil {
		return 0, err
	}
	r.handles++
	r.live[what]++
	return r.handles << 8, nil
}

func (r *recorder) take(what string) error {
	r.live[what]--
	if r.live[what] < 0 {
		r.t.Errorf("more of %s was given back than there was", what)
	}
	return nil
}

func (r *recorder) note(what string) error {
	if err := r.call(what); err != nil {
		return err
	}
	if r.capture != nil {
		*r.capture = append(*r.capture, what)
		return nil
	}
	r.log = append(r.log, what)
	return nil
}

func (r *recorder) Info() driver.Info {
	card := r.card
	card.MemoryBytes = r.total
	return card
}

func (r *recorder) Close() error {
	r.Stop()
	return nil
}

func (r *recorder) Memory() (int64, int64, error) { return r.total, r.total, r.call("memory") }

func (r *recorder) Alloc(bytes int64) (driver.Pointer, error) {
	given, err := r.give("memory")
	p := driver.Pointer(given) << 32 // so far apart that no two overlap
	if err == nil {
		r.sizes[p] = bytes
		r.most = max(r.most, r.bytes())
	}
	return p, err
}
func (r *recorder) Free(p driver.Pointer) error {
	delete(r.sizes, p)
	return r.take("memory")
}
func (r *recorder) AllocHost(bytes int) ([]byte, error) {
	if _, err := r.give("pinned memory"); err != nil {
		return nil, err
	}
	return make([]byte, bytes), nil
}
func (r *recorder) FreeHost([]byte) error { return r.take("pinned memory") }

func (r *recorder) Upload(s driver.Stream, to driver.Pointer, from []byte) error {
	return errors.Join(r.UploadAsync(s, to, from), r.Wait(s))
}
func (r *recorder) Download(s driver.Stream, to []byte, from driver.Pointer) error {
	return errors.Join(r.DownloadAsync(s, to, from), r.Wait(s))
}
func (r *recorder) UploadAsync(_ driver.Stream, _ driver.Pointer, from []byte) error {
	r.traffic.UpBytes += int64(len(from))
	return r.note(fmt.Sprintf("up %d", len(from)))
}
func (r *recorder) DownloadAsync(_ driver.Stream, to []byte, _ driver.Pointer) error {
	r.traffic.DownBytes += int64(len(to))
	for i := range to {
		to[i] = r.down
	}
	return r.note(fmt.Sprintf("down %d", len(to)))
}
func (r *recorder) Copy(_ driver.Stream, _, _ driver.Pointer, bytes int64) error {
	return r.note(fmt.Sprintf("copy %d", bytes))
}
func (r *recorder) Fill(driver.Stream, driver.Pointer, byte, int64) error { return r.note("fill") }
func (r *recorder) Traffic() driver.Traffic                               { return r.traffic }

func (r *recorder) NewStream() (driver.Stream, error) {
	s, err := r.give("streams")
	return driver.Stream(s), err
}
func (r *recorder) FreeStream(driver.Stream) error { return r.take("streams") }
func (r *recorder) Wait(driver.Stream) error {
	r.traffic.Waits++
	return r.note("wait")
}
func (r *recorder) NewEvent(bool) (driver.Event, error) {
	e, err := r.give("events")
	return driver.Event(e), err
}
func (r *recorder) FreeEvent(driver.Event) error                { return r.take("events") }
func (r *recorder) Record(driver.Event, driver.Stream) error    { return r.call("record") }
func (r *recorder) WaitEvent(driver.Stream, driver.Event) error { return r.call("wait for event") }
func (r *recorder) WaitHost(driver.Event) error {
	r.traffic.Waits++
	return r.note("wait for event")
}
func (r *recorder) Elapsed(driver.Event, driver.Event) (float64, error) { return 1, r.call("elapsed") }

func (r *recorder) Load(name, _ string) (driver.Module, error) { return r.module("PTX", name) }
func (r *recorder) LoadCode(name string, _ []byte) (driver.Module, error) {
	return r.module("machine code", name)
}
func (r *recorder) module(form, name string) (driver.Module, error) {
	if r.onLoad != nil {
		if err := r.onLoad(form, name); err != nil {
			return 0, err
		}
	}
	m, err := r.give("modules")
	return driver.Module(m), err
}
func (r *recorder) Unload(driver.Module) error { return r.take("modules") }
func (r *recorder) Kernel(_ driver.Module, name string) (driver.Function, error) {
	r.handles++
	r.names[driver.Function(r.handles)] = name
	return driver.Function(r.handles), r.call("kernel")
}
func (r *recorder) SetDynamicShared(f driver.Function, bytes int) error {
	r.shared[r.names[f]] = bytes
	return r.call("shared memory")
}
func (r *recorder) BlocksAtOnce(driver.Function, driver.Shape) (int, error) {
	return r.atOnce, r.call("blocks at once")
}
func (r *recorder) Prepare(f driver.Function, _ driver.Shape,
	arguments ...driver.Argument) (driver.Launch, error) {
	r.prepared[r.names[f]] = len(arguments)
	l, err := r.give("launches")
	r.runs[driver.Launch(l)] = r.names[f]
	r.values[driver.Launch(l)] = new([mostArguments]driver.Argument)
	return driver.Launch(l), err
}
func (r *recorder) Reshape(l driver.Launch, s driver.Shape)       { r.shapes[l] = s }
func (r *recorder) Set(l driver.Launch, i int, v driver.Argument) { r.values[l][i] = v }
func (r *recorder) Run(l driver.Launch, _ driver.Stream) error {
	kernel := r.runs[l]
	if asked := r.shapes[l].SharedBytes; asked > r.shared[kernel] {
		// Without a limit of its own a launch gets 48 KiB, less the kernel's arrays, which nobody here knows.
		r.t.Errorf("%s is launched with %d bytes of dynamic shared memory, and its limit is %d", kernel, asked, r.shared[kernel])
	}
	values := r.values[l][:r.prepared[kernel]]
	if strings.HasPrefix(kernel, "attend_half_") {
		for _, f := range rangesOf(values) {
			if !r.holds(f) {
				r.t.Errorf("%s fetches %+v, which does not lie in one allocation", kernel, f)
			}
		}
	}
	if r.onRun != nil {
		r.onRun(kernel, r.shapes[l], values)
	}
	return r.note(kernel)
}

// rangesOf returns the weights that a launch of attend_half_* fetches, by its arguments.
func rangesOf(arguments []driver.Argument) (ranges []weightRange) {
	last := arguments[len(arguments)-2*cuda.MostFetched:]
	for i := 0; i < len(last); i += 2 {
		if f := (weightRange{driver.Pointer(last[i]), int(int32(last[i+1]))}); f != (weightRange{}) {
			ranges = append(ranges, f)
		}
	}
	return ranges
}

// holds reports whether all bytes of f lie in one allocation that was not freed.
func (r *recorder) holds(f weightRange) bool {
	for p, bytes := range r.sizes {
		if f.bytes > 0 && f.from >= p && f.from+driver.Pointer(f.bytes) <= p+driver.Pointer(bytes) {
			return true
		}
	}
	return false
}

func (r *recorder) FreeLaunch(driver.Launch) { _ = r.take("launches") }

func (r *recorder) Capture(_ driver.Stream, record func() error) (driver.Graph, error) {
	var steps []string
	r.capture = &steps
	err := record()
	r.capture = nil
	if err == nil {
		_, err = r.give("graphs")
	}
	return driver.Graph{}, err
}
func (r *recorder) Replay(driver.Graph, driver.Stream) error { return r.note("graph") }
func (r *recorder) FreeGraph(driver.Graph) error             { return r.take("graphs") }

// bytes is the device memory that was given and not freed.
func (r *recorder) bytes() (sum int64) {
	for _, n := range r.sizes {
		sum += n
	}
	return sum
}

// kept lists what was not freed.
func (r *recorder) kept() (list []string) {
	for what, n := range r.live {
		if n != 0 {
			list = append(list, fmt.Sprintf("%d %s", n, what))
		}
	}
	return list
}

// errRefused is a failure that leaves the device usable.
var errRefused = errors.New("refused")
