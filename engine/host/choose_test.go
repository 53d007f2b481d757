package host

import (
	"context"
	"errors"
	"strings"
	"testing"

	"specula/engine/compute"
)

// fakeGPU is a device by its name.
type fakeGPU struct {
	compute.Backend
	name string
}

func TestDeviceFallsBackOnlyForAuto(t *testing.T) {
	missing := errors.New("no driver")
	there := func(_ context.Context, name string) (compute.Backend, error) { return fakeGPU{name: name}, nil }
	gone := func(context.Context, string) (compute.Backend, error) { return nil, missing }
	tests := []struct {
		setting string
		open    func(context.Context, string) (compute.Backend, error)
		want    string // "cpu" or the name that was opened
		why     string
		err     error
	}{
		{"cpu", there, "cpu", "asked for", nil},
		{"auto", there, "cuda", "the first usable GPU", nil},
		{"auto", gone, "cpu", "no driver", nil},
		{"cuda:1", there, "cuda:1", "asked for", nil},
		{"cuda:1", gone, "", "", missing},
	}
	for _, tt := range tests {
		b, why, err := device(t.Context(), Choice{Device: tt.setting, Threads: 1}, tt.open)
		if !errors.Is(err, tt.err) || err == nil && why != tt.why {
			t.Errorf("%s: error %v, reason %q; want %v, %q", tt.setting, err, why, tt.err, tt.why)
		}
		got := ""
		switch b := b.(type) {
		case *Backend:
			got = "cpu"
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		case fakeGPU:
			got = b.name
		}
		if got != tt.want {
			t.Errorf("%s: opened %q, want %q", tt.setting, got, tt.want)
		}
	}
}

// Only the CPU computes with activations in f32: auto chooses it, and a GPU that is named is refused.
func TestActivationsChooseTheDevice(t *testing.T) {
	there := func(_ context.Context, name string) (compute.Backend, error) { return fakeGPU{name: name}, nil }
	for _, tt := range []struct {
		device, draft string
		ok            bool
	}{{"auto", "same", true}, {"cpu", "cpu", true}, {"cuda", "same", false}, {"cpu", "cuda", false}} {
		d, err := Choose(t.Context(), Choice{Device: tt.device, Draft: tt.draft, Threads: 1, Activations: "f32"}, there)
		if tt.ok != (err == nil) || err != nil && !errors.Is(err, compute.ErrDevice) {
			t.Errorf("%s, %s: %v", tt.device, tt.draft, err)
		}
		if err != nil {
			continue
		}
		if b, ok := d.Target.(*Backend); !ok || !b.exact || !strings.HasSuffix(b.Info().Name, ", f32 activations") {
			t.Errorf("%s, %s: %s", tt.device, tt.draft, d.Target.Info().Name)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (fakeGPU) Info() compute.Info { return compute.Info{Kind: "cuda"} }

func (fakeGPU) Close() error { return nil }

func TestTheDraftHasADevice(t *testing.T) {
	there := func(_ context.Context, name string) (compute.Backend, error) { return fakeGPU{name: name}, nil }
	tests := []struct {
		device, draft, onLoss string
		want                  string // the draft's device; "" for the target's
		fallback              bool
	}{
		{"cpu", "same", "cpu", "", false},
		{"cpu", "cpu", "error", "", false},
		{"cpu", "cuda", "cpu", "cuda", true},
		{"auto", "cuda:0", "error", "", false},
		{"cuda", "cuda:1", "error", "cuda:1", false},
		{"cuda:1", "cuda:1", "cpu", "", true},
		{"cuda", "cpu", "cpu", "cpu", true},
	}
	for _, tt := range tests {
		d, err := Choose(t.Context(), Choice{Device: tt.device, Draft: tt.draft, OnLoss: tt.onLoss, Threads: 1}, there)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		switch b := d.Draft.(type) {
		case *Backend:
			got = "cpu"
		case fakeGPU:
			got = b.name
		}
		if got != tt.want || (d.Fallback != nil) != tt.fallback {
			t.Errorf("%+v: draft on %q, fallback %t", tt, got, d.Fallback != nil)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
