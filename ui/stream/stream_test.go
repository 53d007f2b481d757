package stream_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"specula/engine/event"
	"specula/ui/stream"
)

func Example() {
	ring := stream.NewRing(16)
	pump := stream.NewPump(ring, stream.FrameInterval)
	ring.Push(event.Prefill{Model: "target", Done: 1, Total: 9})
	ring.Push(event.Prefill{Model: "target", Done: 9, Total: 9})
	ring.Push(event.Round{Index: 0})
	fmt.Println(pump.Wait(context.Background()))
	events, lost := ring.Take()
	for _, e := range events {
		fmt.Println(e.Kind())
	}
	fmt.Println(lost)
	// Output:
	// true
	// prefill
	// round
	// 0
}

func kinds(events []event.Event) string {
	s := ""
	for _, e := range events {
		switch e := e.(type) {
		case event.Round:
			s += fmt.Sprint(e.Index)
		case event.Drafted:
			s += "d"
		case event.Prefill:
			s += e.Model[:1]
		case event.ReplyStarted:
			s += "["
		case event.ReplyEnded:
			s += "]"
		case event.SettingChanged:
			s += "!"
		}
	}
	return s
}

// push pushes the events of a script: a digit is a round, d a draft, [ and ] the start and end of a reply,
// ! a changed setting, t and u progress of two models.
func push(r *stream.Ring, script string) {
	for _, c := range script {
		var e event.Event
		switch c {
		case 'd':
			e = event.Drafted{}
		case 't':
			e = event.Prefill{Model: "target"}
		case 'u':
			e = event.Prefill{Model: "udraft"}
		case '[':
			e = event.ReplyStarted{}
		case ']':
			e = event.ReplyEnded{}
		case '!':
			e = event.SettingChanged{}
		default:
			e = event.Round{Index: int(c - '0')}
		}
		r.Push(e)
	}
}

func TestAFullRingLosesTheLeastFirst(t *testing.T) {
	tests := []struct {
		name         string
		capacity     int
		script, want string
		lost         int
	}{
		{"nothing is lost below the capacity", 6, "[0d2d]", "[0d2d]", 0},
		{"a round says what its draft said", 6, "[d0d]", "[0d]", 0},
		{"progress of one model is one item", 5, "tttuut", "tut", 0},
		{"drafts go first", 5, "[d0dd1]", "[0d1]", 0},
		{"then the oldest rounds", 4, "[0123]", "[23]", 2},
		{"a changed setting outlives rounds", 4, "[!012]", "[!2]", 2},
		{"the ends of a reply outlive everything", 5, "[!!!!!]", "[!!!]", 0},
		{"a newcomer that matters less than all that is there is not taken", 6, "[][][]0", "[][][]", 1},
		{"even the ends are bounded", 5, "[][][][]", "][][]", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := stream.NewRing(tt.capacity)
			push(r, tt.script)
			events, lost := r.Take()
			if got := kinds(events); got != tt.want || lost != tt.lost {
				t.Errorf("pushing %s kept %s and lost %d rounds, want %s and %d", tt.script, got, lost, tt.want, tt.lost)
			}
		})
	}
}

func TestFramesAreApartAndIdleDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring := stream.NewRing(4096)
		pump := stream.NewPump(ring, stream.FrameInterval)
		go func() {
			for i := range 1000 {
				ring.Push(event.Round{Index: i})
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Hour) // idle
			ring.Push(event.ReplyEnded{})
			time.Sleep(time.Second)
			ring.Close()
		}()
		frames, rounds, ended := 0, 0, false
		for pump.Wait(t.Context()) {
			events, _ := ring.Take()
			if len(events) > 0 {
				frames++
			}
			for _, e := range events {
				switch e := e.(type) {
				case event.Round:
					if e.Index != rounds {
						t.Fatalf("round %d came in the place of round %d", e.Index, rounds)
					}
					rounds++
				case event.ReplyEnded:
					ended = true
				}
			}
		}
		// One second of rounds is at most thirty frames, and the one that starts it. The idle hour
		// adds one.
		if frames > 32 || rounds != 1000 || !ended {
			t.Errorf("%d frames brought %d rounds, ended %v; want at most 32 frames, 1000 rounds, true", frames, rounds, ended)
		}
	})
}

func TestFramesThatTakeLongAreFewer(t *testing.T) {
	for _, tt := range []struct {
		took time.Duration
		want int // frames a second
	}{{time.Millisecond / 4, 30}, {time.Millisecond / 2, 15}, {time.Second, 8}} {
		synctest.Test(t, func(t *testing.T) {
			ring := stream.NewRing(16)
			pump := stream.NewPump(ring, stream.FrameInterval)
			pump.Took(tt.took)
			frames, begun := -1, time.Now() // the first one waits for nothing
			for ; time.Since(begun) < 2*time.Second; frames++ {
				ring.Push(event.Round{})
				pump.Wait(t.Context())
			}
			if got := frames / 2; got < tt.want-1 || got > tt.want+1 {
				t.Errorf("frames that take %v are drawn %d times a second, want %d", tt.took, got, tt.want)
			}
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		pump := stream.NewPump(stream.NewRing(1), time.Hour)
		go func() { time.Sleep(time.Second); cancel() }()
		if pump.Wait(ctx) {
			t.Error("a frame was due for an empty ring")
		}
	})
}

func TestPushNeverBlocksAndEndsArrive(t *testing.T) {
	ring := stream.NewRing(64)
	pump := stream.NewPump(ring, 0)
	var pushers sync.WaitGroup
	for range 4 {
		pushers.Go(func() {
			for i := range 5000 {
				ring.Push(event.Round{Index: i})
			}
			ring.Push(event.ReplyEnded{})
		})
	}
	go func() { pushers.Wait(); ring.Close() }()
	rounds, ends := 0, 0
	for open := true; open; {
		open = pump.Wait(t.Context())
		events, lost := ring.Take()
		rounds += lost
		for _, e := range events {
			if _, end := e.(event.ReplyEnded); end {
				ends++
			} else {
				rounds++
			}
		}
	}
	if rounds != 20000 || ends != 4 {
		t.Errorf("%d rounds arrived or were counted as lost and %d ends arrived, want 20000 and 4", rounds, ends)
	}
}
