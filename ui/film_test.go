package ui

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/export"
	"specula/ui/export/film"
)

// liveRecords returns the events of a live reply.
func liveRecords(t *testing.T) []trace.Record {
	t.Helper()
	var records []trace.Record
	live := open(t, func(o *Options) {
		o.Record = func(e event.Event) {
			records = append(records, trace.Record{AtMS: float64(100 * len(records)), Event: e})
		}
	})
	live.ask("hello")
	return records
}

func filmSettings(pace string) config.Config {
	c := config.Default()
	c.UI.Pace, c.UI.Theme = pace, "dark"
	return c
}

// Every frame of a film is one that the live screen has drawn, in the same order, with none left out.
func TestAFilmHasTheFramesOfTheLiveScreen(t *testing.T) {
	records := liveRecords(t)
	for _, name := range []string{"slow", "full"} {
		live := open(t, func(o *Options) { o.Config = filmSettings(name) })
		var want []string
		look := func() {
			live.m.stale = true
			if screen := live.m.View().Content; len(want) == 0 || want[len(want)-1] != screen {
				want = append(want, screen)
			}
		}
		for _, r := range records {
			switch r.Event.(type) {
			case event.ReplyStarted:
				live.m.reply = reply{stop: func() {}, started: true}
			case event.Ready:
				continue // open has seen it
			}
			live.do(live.m.apply(r.Event))
			if _, ended := r.Event.(event.ReplyEnded); ended {
				live.do(live.m.apply(replyOver{}))
			}
			look()
		}
		var got []string
		for f := range Film(records, filmSettings(name), 120, 36).Frames {
			if len(got) == 0 || got[len(got)-1] != f.Screen {
				got = append(got, f.Screen)
			}
		}
		if begin := slices.Index(got, want[0]); begin < 0 {
			t.Errorf("pace %s: the film lacks the first frame:\n%s", name, want[0])
		} else if got = got[begin:]; !slices.Equal(got, want) {
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("pace %s: frame %d of the film is\n%s\nand on the screen\n%s", name, i, got[i], want[i])
				}
			}
			t.Errorf("pace %s: %d frames, want %d", name, len(got), len(want))
		}
		if len(want) < 24 {
			t.Errorf("pace %s: only %d frames were compared", name, len(want))
		}
	}
}

// Each round has one mark. At the slow pace a drafted round takes its time, and a plain one a third of it.
func TestTimesAndMarksOfAFilm(t *testing.T) {
	records := liveRecords(t)
	c := filmSettings("slow")
	c.UI.Rounds = 4
	var frames []film.Frame
	var marks []string
	rounds := 0
	for f := range Film(records, c, 80, 24).Frames {
		if f.Mark != "" {
			marks = append(marks, f.Mark)
		}
		if len(frames) > 0 && f.At < frames[len(frames)-1].At {
			t.Errorf("a frame at %v comes after one at %v", f.At, frames[len(frames)-1].At)
		}
		frames = append(frames, f)
	}
	var took time.Duration
	for _, r := range records {
		if e, ok := r.Event.(event.Round); ok {
			rounds++
			if took += time.Second / 4; len(e.Draft) == 0 {
				took -= time.Second / 6
			}
		}
	}
	if len(marks) != 1+rounds || marks[0] != "prompt" || marks[1] != "round 1" || marks[rounds] != "round "+count(rounds) {
		t.Errorf("marks %v for %d rounds", marks, rounds)
	}
	if got := frames[len(frames)-1].At - filmBegins - filmEnds; got.Round(time.Millisecond) != took.Round(time.Millisecond) {
		t.Errorf("the rounds take %v, want %v", got, took)
	}
}

// A film that nobody watches to its end stops.
func TestAFilmCanBeLeft(t *testing.T) {
	n := 0
	for range Film(liveRecords(t), filmSettings("full"), 80, 24).Frames {
		if n++; n == 3 {
			break
		}
	}
}

// A trace that an older version wrote still plays. testdata/older.jsonl is of commit 6b9f252, with
// fewer settings, events and words than today.
func TestATraceOfAnOlderVersionPlays(t *testing.T) {
	f, err := os.Open("testdata/older.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var records []trace.Record
	var ended event.ReplyEnded
	for r, err := range trace.Read(f) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.Event.(event.ReplyEnded); ok {
			ended = e
		}
		records = append(records, r)
	}
	marks := 0
	var last film.Frame
	for frame := range Film(records, filmSettings("slow"), 120, 36).Frames {
		if last = frame; frame.Mark != "" {
			marks++
		}
	}
	for word := range strings.FieldsSeq(ended.Text) {
		if !strings.Contains(ansi.Strip(last.Screen), word) {
			t.Errorf("the last frame lacks %q:\n%s", word, ansi.Strip(last.Screen))
		}
	}
	if marks != 1+ended.Totals.Rounds || ended.Totals.Rounds == 0 {
		t.Errorf("%d marks, want one for the prompt and one for each of %d rounds", marks, ended.Totals.Rounds)
	}
	if got := export.ChatOf(records); len(got.Turns) != 2 || got.Turns[1].Text != ended.Text {
		t.Errorf("as a chat it is %+v", got.Turns)
	}
}
