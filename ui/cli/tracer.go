package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"specula/engine/event"
	"specula/engine/trace"
)

// traceFlags say where to record.
type traceFlags struct {
	path  string
	force bool
}

func (o *traceFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.path, "trace", "", "record the events to a new `FILE`, for replay")
	flags.BoolVar(&o.force, "force", false, "let --trace replace a file")
}

// tracer records events to a file. The zero value records nothing.
type tracer struct {
	file *os.File
	w    *trace.Writer
	mine bool // the file did not exist before
}

// newTracer begins a recording, which only its owner may read. It does not replace an existing file, unless
// --force is given. Without a path it records nothing.
func (a *invocation) newTracer(o traceFlags) (tracer, error) {
	if o.path == "" {
		return tracer{}, nil
	}
	f, mine, err := createPrivate(o.path, o.force)
	if errors.Is(err, os.ErrExist) {
		return tracer{}, usagef("--trace: %s is there already; choose another name, or add --force to replace it", o.path)
	}
	if err != nil {
		return tracer{}, fmt.Errorf("recording a trace: %w", err)
	}
	return tracer{f, trace.NewWriter(f, a.Now), mine}, nil
}

// createPrivate opens a file for writing that only its owner may read. It refuses an existing file unless
// replace is set. It always opens a pipe or a device, because writing to one replaces nothing, and leaves
// its permissions as they are. mine says that the file is new.
func createPrivate(path string, replace bool) (f *os.File, mine bool, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return f, false, err
	}
	f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if !replace || !errors.Is(err, os.ErrExist) {
		return f, err == nil, err
	}
	if f, err = os.OpenFile(path, os.O_TRUNC|os.O_WRONLY, 0); err != nil {
		return nil, false, err
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, false, nil
}

func (t tracer) put(e event.Event) error {
	if t.w == nil {
		return nil
	}
	return t.w.Write(e)
}

// close ends the recording. It removes a new file without any event, so that the next recording can use its
// name.
func (t tracer) close() error {
	if t.file == nil {
		return nil
	}
	info, err := t.file.Stat()
	if err == nil && t.mine && info.Size() == 0 {
		err = os.Remove(t.file.Name())
	}
	if err := errors.Join(err, t.file.Close()); err != nil {
		return fmt.Errorf("closing the trace: %w", err)
	}
	return nil
}
