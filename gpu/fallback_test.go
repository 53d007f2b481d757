//go:build cuda && linux && cgo

package gpu_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/gpu"
)

// pair loads the demo pair onto the devices that the options name.
func pair(t *testing.T, o engine.Options) (*engine.Session, error) {
	t.Helper()
	o.Config, o.Now, o.NewSeed = config.Default(), time.Now, func() int64 { return 1 }
	o.Target = engine.Source{Name: "demo target", Embedded: assets.Target()}
	o.Draft = engine.Source{Name: "demo draft", Embedded: assets.Draft()}
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		return nil, err
	}
	s, err := e.NewSession(t.Context())
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = s.Close() }) // a lost device cannot free anything
	set(t, s, "temperature", "0", "max-tokens", "16", "gamma-rule", "fixed", "gamma", "3")
	return s, nil
}

// onProcessor is what the pair writes on the CPU.
func onProcessor(t *testing.T, prompt string) []int32 {
	t.Helper()
	b := host.New(1)
	t.Cleanup(func() { _ = b.Close() })
	s, err := pair(t, engine.Options{Backend: b})
	if err != nil {
		t.Fatal(err)
	}
	return ask(t, s, prompt).ids
}

// With draft and target on different devices the text is the same, and rounds say what crossed.
func TestDraftAndTargetOnDifferentDevices(t *testing.T) {
	const prompt = "who are you?"
	want := onProcessor(t, prompt)
	for _, c := range []struct {
		name          string
		target, draft func() compute.Backend
		device        string
	}{
		{"draft on the processor", func() compute.Backend { return open(t) },
			func() compute.Backend { return host.New(1) }, "; draft on cpu: "},
		{"target on the processor", func() compute.Backend { return host.New(1) },
			func() compute.Backend { return open(t) }, "; draft on cuda: "},
		{"two GPUs", func() compute.Backend { return open(t) }, func() compute.Backend { return open(t) },
			"; draft on cuda: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := pair(t, engine.Options{Backend: c.target(), DraftBackend: c.draft()})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(s.Ready().Device, c.device) {
				t.Errorf("the device is %q", s.Ready().Device)
			}
			r := ask(t, s, prompt)
			if r.failed != "" || !slices.Equal(r.ids, want) {
				t.Errorf("%q %s, want the tokens %v, got %v", r.text, r.failed, want, r.ids)
			}
			accepted := 0
			for _, round := range r.rounds {
				accepted += round.Accepted
				if bytes := int64(4 * (len(round.Draft) + 1)); round.Syncs != 1 || round.BytesMoved != bytes {
					t.Errorf("round %d waited %d times and moved %d bytes, want once and %d", round.Index, round.Syncs, round.BytesMoved, bytes)
				}
			}
			if accepted == 0 {
				t.Errorf("no draft token was accepted in %d rounds", len(r.rounds))
			}
		})
	}
}

// When a GPU fails in the middle of a reply, the reply either ends with an error and the text so
// far, or continues on the CPU with the same text.
func TestADeviceThatFailsInAReply(t *testing.T) {
	needFaults(t)
	for _, fault := range []struct{ name, variable string }{
		{"a kernel reads an illegal address", "EMULATOR_FAIL_KERNEL"},
		{"the device is lost", "EMULATOR_LOSE_DEVICE"},
	} {
		for _, falls := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, falling back %t", fault.name, falls), func(t *testing.T) {
				if alone(t) {
					return
				}
				t.Setenv(fault.variable, "1000")
				s, err := failing(t, falls)
				if err != nil {
					t.Fatal(err)
				}
				for range 20 {
					if checkFailing(t, s, falls) {
						return
					}
				}
				t.Error("the device never failed")
			})
		}
	}
}

// A refused launch leaves the device usable.
func TestALaunchThatIsRefusedInAReply(t *testing.T) {
	needFaults(t)
	for _, falls := range []bool{false, true} {
		failed := false
		for n := 200; n < 2000 && !failed; n += 200 { // the first launches are those of loading and measuring
			t.Setenv("EMULATOR_REFUSE_LAUNCH", fmt.Sprint(n))
			t.Run(fmt.Sprintf("launch %d, falling back %t", n, falls), func(t *testing.T) {
				s, err := failing(t, falls)
				if err == nil {
					failed = checkFailing(t, s, falls)
				} else if !errors.Is(err, compute.ErrDevice) {
					t.Fatal(err)
				}
			})
		}
		if !failed {
			t.Errorf("falling back %t: no reply was refused a launch", falls)
		}
	}
}

// Memory runs out in the middle of a reply: a longer draft than before needs more of it.
func TestMemoryEndsInAReply(t *testing.T) {
	needFaults(t)
	for _, falls := range []bool{false, true} {
		t.Run(fmt.Sprintf("falling back %t", falls), func(t *testing.T) {
			s, err := failing(t, falls)
			if err != nil {
				t.Fatal(err)
			}
			set(t, s, "gamma-max", "12", "gamma", "12")
			t.Setenv("EMULATOR_NO_MEMORY_LEFT", "1")
			if !checkFailing(t, s, falls) {
				t.Error("the reply did not run out of memory")
			}
		})
	}
}

// needFaults skips the test where faults cannot be provoked, and under random schedules
// (EMULATOR_SEED), which do not affect faults.
func needFaults(t *testing.T) {
	t.Helper()
	needEmulator(t)
	if seed := os.Getenv("EMULATOR_SEED"); seed != "" && seed != "0" {
		t.Skip("faults in replies are provoked in the schedule in order")
	}
}

// failing opens the pair on a GPU that will fail.
func failing(t *testing.T, falls bool) (*engine.Session, error) {
	t.Helper()
	b, err := gpu.Open(t.Context(), "cuda")
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	o := engine.Options{Backend: b}
	if falls {
		o.Fallback = func() compute.Backend {
			b := host.New(1)
			t.Cleanup(func() { _ = b.Close() })
			return b
		}
	}
	return pair(t, o)
}

// checkFailing asks for a reply and reports whether the device failed during it. If the device
// failed, it checks the reply. With falls, the reply must continue on the CPU, and it and the next
// reply must have the correct text. Without falls, the reply must end with an error, and its text
// must be the beginning of the correct text.
func checkFailing(t *testing.T, s *engine.Session, falls bool) bool {
	t.Helper()
	const prompt = "who are you?"
	r := ask(t, s, prompt)
	if r.failed == "" && len(r.notices) == 0 {
		return false
	}
	want := onProcessor(t, prompt)
	t.Logf("%s: %q, %q, %q", r.reason, r.text, r.failed, r.notices)
	if !falls {
		if r.reason != "error" || !r.device || len(r.ids) > len(want) ||
			!slices.Equal(r.ids, want[:len(r.ids)]) {
			t.Errorf("the reply ended with %q: %q %v, want the beginning of %v", r.reason,
				r.failed, r.ids, want)
		}
		return true
	}
	if r.failed != "" || !slices.Equal(r.ids, want) || len(r.notices) != 2 {
		t.Errorf("the reply ended with %q: %q %v, want %v", r.reason, r.failed, r.ids, want)
	}
	if later := ask(t, s, prompt); later.failed != "" || !slices.Equal(later.ids, want) ||
		len(later.notices) > 0 {
		t.Errorf("the next reply: %q %v", later.failed, later.ids)
	}
	return true
}
