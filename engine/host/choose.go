package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"specula/engine/compute"
)

// Devices are the devices of a conversation.
type Devices struct {
	Target   compute.Backend
	Why      string                 // why Target was chosen
	Draft    compute.Backend        // nil: the draft model computes on Target, too
	Fallback func() compute.Backend // opens the backend on which replies continue when a GPU fails; nil: there is none

	opened []compute.Backend
}

// Choice names devices in the words of the settings.
type Choice struct {
	Device  string // auto, cpu, cuda, cuda:N
	Draft   string // same, cpu, cuda, cuda:N: the device of the draft model
	OnLoss  string // error, cpu: what happens to a reply whose device fails
	Threads int    // number of threads on the processor; 0: as many as compute fastest (cores.go)
	PollMS  int    // how long an idle thread polls for work, in milliseconds

	Activations string // q8, f32: how activations are multiplied with quantised weights
}

// processor starts a CPU backend with these settings.
func (c Choice) processor() *Backend {
	return NewPolling(c.Threads, time.Duration(c.PollMS)*time.Millisecond).WithActivations(c.Activations)
}

// OpenGPU opens a GPU by its name.
type OpenGPU func(ctx context.Context, name string) (compute.Backend, error)

// Choose opens the devices that c asks for. Only under auto the CPU takes the place of a GPU that cannot
// be used; then Devices.Why gives the reason.
func Choose(ctx context.Context, c Choice, open OpenGPU) (*Devices, error) {
	d := &Devices{}
	target, why, err := device(ctx, c, open)
	if err != nil {
		return nil, err
	}
	d.Target, d.Why, d.opened = target, why, append(d.opened, target)
	kind := target.Info().Kind
	switch {
	case c.Activations == "f32" && c.Draft != "same" && c.Draft != "cpu":
		return nil, errors.Join(fmt.Errorf("%w: activations in f32 are of the processor: choose --draft-device cpu, or --activations q8", compute.ErrDevice), d.Close())
	case c.Draft == "same", c.Draft == "cpu" && kind == "cpu", kind != "cpu" && sameGPU(c.Draft, c.Device):
	case c.Draft == "cpu":
		d.Draft = c.processor()
	default:
		if d.Draft, err = open(ctx, c.Draft); err != nil {
			return nil, errors.Join(fmt.Errorf("the draft model's device: %w", err), d.Close())
		}
	}
	if d.Draft != nil {
		d.opened = append(d.opened, d.Draft)
	}
	if c.OnLoss == "cpu" && (kind != "cpu" || d.Draft != nil) {
		d.Fallback = func() compute.Backend {
			b := c.processor()
			d.opened = append(d.opened, b)
			return b
		}
	}
	return d, nil
}

// sameGPU reports whether two names mean the same GPU; auto means the first.
func sameGPU(a, b string) bool {
	first := func(name string) string {
		if name == "auto" || name == "cuda" {
			return "cuda:0"
		}
		return name
	}
	return first(a) == first(b)
}

// Close closes all backends that were opened, with those that Fallback opened.
func (d *Devices) Close() error {
	var errs []error
	for _, b := range d.opened {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

// device opens the device of the target; why says why that device was chosen.
func device(ctx context.Context, c Choice, open OpenGPU) (b compute.Backend, why string, err error) {
	switch {
	case c.Activations == "f32" && c.Device == "auto":
		return c.processor(), "activations in f32 are asked for, which only it computes with", nil
	case c.Activations == "f32" && c.Device != "cpu":
		return nil, "", fmt.Errorf("%w: activations in f32 are of the processor: choose --device cpu, or --activations q8", compute.ErrDevice)
	}
	switch c.Device {
	case "cpu":
		return c.processor(), "asked for", nil
	case "auto":
		b, err := open(ctx, "cuda")
		if err != nil {
			return c.processor(), err.Error(), nil
		}
		return b, "the first usable GPU", nil
	}
	if b, err = open(ctx, c.Device); err != nil {
		return nil, "", fmt.Errorf("%w (device cpu computes on the processor, and auto does so where there is no GPU)", err)
	}
	return b, "asked for", nil
}
