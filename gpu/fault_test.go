//go:build cuda && linux && cgo

package gpu_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/gpu"
	"specula/gpu/driver/emulated"
)

// needEmulator skips the test on a real device, where faults cannot be ordered.
func needEmulator(t *testing.T) {
	t.Helper()
	emulated.Use(t)
	if !emulated.Emulated() {
		t.Skip("the driver is a real one")
	}
}

// Whichever reservation finds no memory, the error says so, and a later try can succeed in the same process. Every
// third reservation is tried.
func TestOutOfMemoryAtAnyReservation(t *testing.T) {
	needEmulator(t)
	for n := 1; ; n += 3 {
		t.Setenv("EMULATOR_FAIL_ALLOCATION", fmt.Sprint(n))
		b, err := gpu.Open(t.Context(), "cuda")
		if err == nil {
			err = useOnce(t, b)
			if closed := b.Close(); closed != nil {
				t.Errorf("closing: %v", closed)
			}
		}
		if err == nil && n > 30 {
			t.Logf("fewer than %d reservations", n)
			return
		}
		if !errors.Is(err, compute.ErrOutOfMemory) {
			t.Fatalf("reservation %d failed and the error is %v", n, err)
		}
	}
}

// useOnce loads the demo draft and computes a pass.
func useOnce(t *testing.T, b compute.Backend) error {
	m, err := model.Load(t.Context(), b, parse(t, assets.Draft()),
		model.Options{MaxTokens: 64, MaxRows: 4}, nil)
	if err != nil {
		return err
	}
	cache, err := m.NewCache()
	if err != nil {
		return err
	}
	logits, err := m.Forward(t.Context(), cache, []int32{1, 2})
	if err != nil {
		return err
	}
	return logits.Row(0, make([]float32, logits.Vocab()))
}

// alone runs the test in a process of its own and reports whether it did. A lost device stays lost
// for the whole process.
func alone(t *testing.T) bool {
	t.Helper()
	const mark = "SPECULA_TEST_ALONE"
	if os.Getenv(mark) != "" {
		return false
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.v",
		"-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$")
	command.Env = append(os.Environ(), mark+"=yes")
	said, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "--- PASS") {
		t.Errorf("%v\n%s", err, said)
	}
	return true
}

// A reply in which the device fails ends with an error. The process lives on, and a later reply is refused in words.
func TestFaultsInAReply(t *testing.T) {
	needEmulator(t)
	for _, c := range []struct {
		name, variable, later string // later: the error of the next reply must contain it; "" if none
	}{
		{"a kernel reads an illegal address", "EMULATOR_FAIL_KERNEL", "start specula anew"},
		{"the device is lost", "EMULATOR_LOSE_DEVICE", "start specula anew"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if alone(t) {
				return
			}
			t.Setenv(c.variable, "3000")
			b, err := gpu.Open(t.Context(), "cuda")
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := b.Close(); err != nil {
					t.Errorf("closing: %v", err)
				}
			}()
			s, err := demo(t, b).NewSession(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			set(t, s, "temperature", "0", "max-tokens", "200", "gamma-rule", "fixed", "gamma", "3")
			failed := reply{}
			for range 20 {
				if failed = ask(t, s, "tell me a story about a dragon"); failed.failed != "" {
					break
				}
			}
			t.Logf("%s: %q, %q", failed.reason, failed.text, failed.failed)
			if failed.reason != "error" || failed.failed == "" {
				t.Errorf("the reply ended with %q: %s", failed.reason, failed.failed)
			}
			if later := ask(t, s, "who are you?"); !strings.Contains(later.failed, c.later) ||
				(later.failed == "") != (c.later == "") {
				t.Errorf("the next reply: %q %q", later.text, later.failed)
			}
		})
	}
}

// If the target's scores are not finite, no session opens. If the draft's are not, rounds have no draft, and the reply
// is written. (The proposer auto would make way for another one after a few of these rounds.)
func TestScoresThatAreNoNumbers(t *testing.T) {
	broken := func(data []byte) []byte {
		data = slices.Clone(data)
		f, err := weights.Parse("broken", data)
		if err != nil {
			t.Fatal(err)
		}
		norm, found, err := f.Tensor("output_norm.weight")
		if err != nil || !found {
			t.Fatal(found, err)
		}
		// norm.Data is part of data
		binary.LittleEndian.PutUint32(norm.Data, math.Float32bits(float32(math.NaN())))
		return data
	}
	b := open(t)
	for _, c := range []struct {
		name          string
		target, draft []byte
		failed        string
	}{
		{"target", broken(assets.Target()), assets.Draft(), "not finite"},
		{"draft", assets.Target(), broken(assets.Draft()), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := engine.Load(t.Context(), engine.Options{
				Config: config.Default(), Backend: b, Now: time.Now, NewSeed: func() int64 { return 1 },
				Target: engine.Source{Name: "target", Embedded: c.target},
				Draft:  engine.Source{Name: "draft", Embedded: c.draft},
			}, func(event.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			s, err := e.NewSession(t.Context())
			if c.failed != "" {
				if !errors.Is(err, compute.ErrNotFinite) { // a session measures rounds before the first reply
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			set(t, s, "proposer", "draft", "temperature", "0", "max-tokens", "6", "gamma-rule",
				"fixed", "gamma", "2")
			r := ask(t, s, "who are you?")
			if r.failed != "" || !strings.HasPrefix(r.text, "I am") {
				t.Errorf("%q, %q", r.text, r.failed)
			}
			for _, round := range r.rounds {
				if round.Gamma > 0 && !strings.Contains(round.DraftWhy, "not finite") {
					t.Errorf("round %d: the draft of %d ended with %q", round.Index, round.Gamma,
						round.DraftWhy)
				}
			}
		})
	}
}
