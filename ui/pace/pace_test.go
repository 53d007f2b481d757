package pace_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"specula/engine/event"
	"specula/ui/pace"
)

func ExamplePacer() {
	p := pace.New(pace.Step, 2)
	p.Next() // the key was pressed: one phase may pass
	fmt.Println(p.Wait(context.Background()))
	mode, rounds := p.Mode()
	fmt.Println(mode, rounds)
	// Output:
	// <nil>
	// step 2
}

// waited runs Wait in a bubble of fake time, and returns how long it blocked.
func waited(p *pace.Pacer, ctx context.Context, meanwhile func()) (time.Duration, error) {
	began := time.Now()
	done := make(chan error, 1)
	go func() { done <- p.Wait(ctx) }()
	synctest.Wait()
	meanwhile()
	err := <-done
	return time.Since(began), err
}

func TestWait(t *testing.T) {
	nothing := func(*pace.Pacer, context.CancelFunc) {}
	after := func(d time.Duration, do func(*pace.Pacer)) func(*pace.Pacer, context.CancelFunc) {
		return func(p *pace.Pacer, _ context.CancelFunc) { time.Sleep(d); do(p) }
	}
	tests := []struct {
		name      string
		mode      pace.Mode
		rounds    float64
		meanwhile func(*pace.Pacer, context.CancelFunc)
		want      time.Duration
		err       error
	}{
		{"full speed never waits", pace.Full, 1, nothing, 0, nil},
		{"two rounds a second hold a phase for a sixth of a second", pace.Slow, 2, nothing, time.Second / 6, nil},
		{"cancel is immediate when slow", pace.Slow, 0.1, func(_ *pace.Pacer, c context.CancelFunc) { c() }, 0, context.Canceled},
		{"cancel is immediate when stepping", pace.Step, 1, func(_ *pace.Pacer, c context.CancelFunc) { c() }, 0, context.Canceled},
		{"a step lets one phase pass", pace.Step, 1, after(5*time.Second, (*pace.Pacer).Next), 5 * time.Second, nil},
		{"full speed frees a waiter", pace.Step, 1, after(time.Second, func(p *pace.Pacer) { p.Set(pace.Full, 1) }), time.Second, nil},
		{"a faster pace counts from the start of the phase", pace.Slow, 0.1, after(time.Second, func(p *pace.Pacer) { p.Set(pace.Slow, 0.2) }), 5 * time.Second / 3, nil},
		{"a pace of nothing is brought into range", pace.Slow, 0, nothing, 10 * time.Second / 3, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p := pace.New(tt.mode, tt.rounds)
				got, err := waited(p, ctx, func() { tt.meanwhile(p, cancel) })
				if d := got - tt.want; d < -time.Millisecond || d > time.Millisecond || err != tt.err {
					t.Errorf("held for %v with error %v, want %v with %v", got, err, tt.want, tt.err)
				}
			})
		})
	}
}

func TestStepsDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(pace.Step, 1)
		for range 10 {
			p.Next()
		}
		if err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Wait(ctx); err != context.DeadlineExceeded {
			t.Errorf("ten early presses let a second phase pass (%v)", err)
		}
	})
}

func TestAStepIsForgottenWhenThePaceChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace.New(pace.Step, 1)
		p.Next()
		p.Set(pace.Full, 1)
		p.Set(pace.Step, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Wait(ctx); err != context.DeadlineExceeded {
			t.Errorf("an old step let a phase pass (%v)", err)
		}
	})
}

func TestParse(t *testing.T) {
	for _, m := range []pace.Mode{pace.Full, pace.Slow, pace.Step} {
		if got, err := pace.Parse(m.String()); got != m || err != nil {
			t.Errorf("Parse(%q) = %v, %v", m.String(), got, err)
		}
	}
	if _, err := pace.Parse("warp"); err == nil {
		t.Error("pace warp was accepted")
	}
}

func TestPlayShowsThePhasesOfARound(t *testing.T) {
	draft := []event.Token{{ID: 1}, {ID: 2}}
	verdicts := []event.Token{{ID: 1, Verdict: event.Accepted}, {ID: 2, Verdict: event.Rejected}}
	reply := []event.Event{
		event.ReplyStarted{},
		event.Drafted{Round: 0, Tokens: draft},
		event.Round{Index: 0, Draft: verdicts, Commit: &event.Token{ID: 3, Verdict: event.Resampled}},
		event.Round{Index: 1, Commit: &event.Token{ID: 4, Verdict: event.Plain}},
		event.ReplyEnded{},
	}
	tests := []struct {
		name string
		mode pace.Mode
		took time.Duration
		want string
	}{
		{"full speed shows the engine's events", pace.Full, 0, "start draft round round end"},
		{"slow holds the verdict longer", pace.Slow, 4 * time.Second / 3, "start draft round round end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				got := play(t.Context(), pace.New(tt.mode, 1), reply)
				took := time.Since(began)
				if got != tt.want || took.Round(time.Millisecond) != tt.took.Round(time.Millisecond) {
					t.Errorf("showed %q in %v, want %q in %v", got, took, tt.want, tt.took)
				}
			})
		})
	}
	t.Run("a cancelled reply is shown to its end without waiting", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, want := play(ctx, pace.New(pace.Step, 1), reply), "start draft round round end"; got != want {
			t.Errorf("showed %q, want %q", got, want)
		}
	})
}

func play(ctx context.Context, p *pace.Pacer, events []event.Event) string {
	var shown []string
	p.Play(ctx, slices.Values(events), func(e event.Event) {
		switch e.(type) {
		case event.Drafted:
			shown = append(shown, "draft")
		case event.Round:
			shown = append(shown, "round")
		case event.ReplyStarted:
			shown = append(shown, "start")
		case event.ReplyEnded:
			shown = append(shown, "end")
		}
	})
	return strings.Join(shown, " ")
}
