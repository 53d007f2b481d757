package demo_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"specula/ui/demo"
)

func parse(t *testing.T, text string) *demo.Script {
	t.Helper()
	s, err := demo.Parse("talk.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// host plays as the screen does, with a clock of its own. A reply takes as long as the test says.
type host struct {
	player *demo.Player
	now    time.Time
	busy   bool
	did    []string
}

func play(t *testing.T, text string, loop bool) *host {
	return &host{player: demo.NewPlayer(parse(t, text), loop), now: time.Unix(0, 0)}
}

// goOn does everything that is due.
func (h *host) goOn() {
	for range 1000 {
		a, ok := h.player.Next(h.now, h.busy)
		if !ok {
			return
		}
		h.did = append(h.did, a.String())
		switch a.Kind {
		case demo.Ask, demo.Race:
			h.busy = true
		}
	}
	h.did = append(h.did, "never waits")
}

func (h *host) later(d time.Duration) { h.now = h.now.Add(d); h.goOn() }

// done ends the reply or the race.
func (h *host) done() { h.busy = false; h.goOn() }

func (h *host) want(t *testing.T, did ...string) {
	t.Helper()
	if got := strings.Join(h.did, " | "); got != strings.Join(did, " | ") {
		t.Errorf("played  %s\nwant    %s", got, strings.Join(did, " | "))
	}
	h.did = nil
}

func TestActionsComeInOrderAndWait(t *testing.T) {
	h := play(t, `
# a comment
say "one \"two\""
ask hello there
wait 3s
race gamma=2 vs plain
wait key
set gamma=4
`, false)
	h.goOn()
	h.want(t, "scene talk", `say one "two"`, "ask hello there")
	if n, of, title := h.player.Scene(); n != 1 || of != 1 || title != "talk" || h.player.Caption() != `one "two"` {
		t.Errorf("scene %d of %d, %q, says %q", n, of, title, h.player.Caption())
	}
	h.later(time.Hour)
	h.want(t)
	h.done()
	h.want(t, "wait 3s")
	h.later(2 * time.Second)
	h.want(t)
	h.later(time.Second)
	h.want(t, "race gamma 2 vs without speculation")
	h.done()
	h.want(t, "wait key")
	h.later(time.Hour)
	h.want(t)
	h.player.Press(h.now)
	h.goOn()
	h.want(t, "set [{speculation.gamma 4} {speculation.gamma_rule fixed}]")
	if !h.player.Over() {
		t.Error("the script is not over")
	}
}

// Under pace step the script goes on at once, and its steps drive the reply. The reply ends by itself once
// the pace is another.
func TestStepsDriveAReply(t *testing.T) {
	h := play(t, "pace step\nask x\nstep 3\nsay after\npace slow 2\nwait 1s\nask y", false)
	h.goOn()
	h.want(t, "scene talk", "pace step", "ask x", "step 3")
	h.later(900 * time.Millisecond)
	h.later(900 * time.Millisecond)
	h.want(t, "step 1", "step 1")
	h.later(900 * time.Millisecond)
	h.want(t, "say after", "pace slow", "wait 1s")
	h.later(time.Second)
	h.want(t)
	h.done()
	h.want(t, "ask y")

	h = play(t, "pace step\nask x\nstep 1\nask y", false)
	h.goOn()
	h.later(time.Second)
	h.want(t, "scene talk", "pace step", "ask x", "step 1", "stop") // nobody would press for it
	h.done()
	h.want(t, "ask y")
}

const scenes = "scene A\nask a\nwait 5s\nscene B\nask b\nwait 5s"

// The user can go to the next scene, to the previous one, or to the beginning of this one. A reply
// that is being written is stopped before that scene begins.
func TestScenesAreGoneTo(t *testing.T) {
	h := play(t, scenes, false)
	h.goOn()
	h.player.Go(1)
	h.goOn()
	h.want(t, "scene A", "ask a", "stop")
	h.later(time.Minute)
	h.want(t)
	h.done()
	h.want(t, "scene B", "ask b")
	h.done()
	h.player.Go(-1)
	h.goOn()
	h.want(t, "wait 5s", "scene A", "ask a")
	h.done()
	h.player.Go(0)
	h.goOn()
	h.done()
	h.want(t, "wait 5s", "scene A", "ask a", "wait 5s")
	h.player.Go(1)
	h.player.Go(-1) // nothing was played in between
	h.player.Go(1)
	h.goOn()
	h.done()
	h.want(t, "scene B", "ask b", "wait 5s")
	h.player.Go(1)
	h.goOn()
	h.want(t)
	if !h.player.Over() {
		t.Error("after the last scene comes the end")
	}
}

func TestALoopBeginsAgainAndWaitsForNobody(t *testing.T) {
	h := play(t, "scene A\nwait key\nscene B\nwait 1s", true)
	h.goOn()
	h.later(20 * time.Second)
	h.later(time.Second)
	h.want(t, "scene A", "wait key", "scene B", "wait 1s")
	h.later(time.Second)
	h.want(t, "scene A", "wait key")
	h.player.Go(-1)
	h.goOn()
	h.want(t, "scene B", "wait 1s")
	h.player.Go(1)
	h.goOn()
	h.want(t, "scene A", "wait key")
}

// A loop without any wait does not hang whoever plays it.
func TestALoopAlwaysWaits(t *testing.T) {
	h := play(t, "say x", true)
	h.goOn()
	if got := h.did[len(h.did)-1]; got == "never waits" {
		t.Error("the loop never waits")
	}
}

func TestAPauseKeepsTheTimeThatIsLeft(t *testing.T) {
	h := play(t, "wait 5s\nsay x", false)
	h.goOn()
	h.later(2 * time.Second)
	h.player.Pause(h.now)
	h.later(time.Hour)
	h.player.Pause(h.now)
	h.later(2 * time.Second)
	h.want(t, "scene talk", "wait 5s")
	h.later(time.Second)
	h.want(t, "say x")
}

// Errors name file and line, what stands there and what may.
func TestMistakesAreTold(t *testing.T) {
	for text, want := range map[string]string{
		"ask":                             "talk.txt:1: got ask with 0 characters; allowed is a prompt of 1 to 16384 characters",
		"\n\npace fast":                   `talk.txt:3: got pace "fast"; allowed is full, step, or slow with rounds a second from 0.1 to 60`,
		"pace full 3":                     "allowed is full, step, or slow",
		"pace slow 99":                    "allowed is full, step, or slow",
		"set gama=3":                      "did you mean gamma?",
		"set gamma=99":                    `got set "gamma=99"; allowed is an integer from 0 to 32`,
		"set target=x":                    "a setting that changes while the program runs",
		"set pace=full":                   "the pace has a line of its own",
		"wait 3":                          "allowed is key, nothing, or a time such as 3s",
		"wait -3s":                        "allowed is key",
		`say "x`:                          "a caption without its closing quote",
		"say " + strings.Repeat("x", 301): "allowed is a caption of 1 to 300 characters",
		"jump":                            `got "jump"; allowed is scene, say, ask, set, pace, step, race, show, record or wait`,
		"race a=1 vs b":                   "there is no setting",
		"step 0":                          "a number from 1 to 1000",
		"# only a comment":                "allowed is at least one line",
		"say \xff":                        "text in UTF-8",
	} {
		_, err := demo.Parse("talk.txt", text)
		var wrong *demo.Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	_, err := demo.Parse("talk.txt", "jump\nask x\nstep x\n")
	if got := strings.Count(fmt.Sprint(err), "talk.txt:"); got != 2 {
		t.Errorf("%d mistakes are told, want both: %v", got, err)
	}
}

// The tour plays to its end, and takes about five minutes: the waits, and a few seconds for each reply.
func TestTheTourTakesFiveMinutes(t *testing.T) {
	s := demo.Tour()
	h := &host{player: demo.NewPlayer(s, false), now: time.Unix(0, 0)}
	const reply = 7 * time.Second
	for range 1000 {
		h.goOn()
		switch due, waits := h.player.Due(); {
		case h.player.Over():
		case h.busy:
			h.now = h.now.Add(reply)
			h.busy = false
			continue
		case waits:
			h.now = due
			continue
		default:
			t.Fatalf("the tour stands still after %s", h.did[len(h.did)-1])
		}
		break
	}
	if took := h.now.Sub(time.Unix(0, 0)); took < 4*time.Minute || took > 6*time.Minute {
		t.Errorf("the tour takes %s", took)
	}
	if n := len(s.Scenes()); n < 5 {
		t.Errorf("%d scenes", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("scene a\nsay \"x\"\nask y\nset gamma=2\npace slow 2\nstep 3\nrace\nrecord f\nwait key\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := demo.Parse("f", text)
		if err == nil && (len(s.Actions) == 0 || s.Actions[0].Kind != demo.Scene) {
			t.Errorf("%q gives %v", text, s.Actions)
		}
	})
}

func ExampleParse() {
	_, err := demo.Parse("talk.txt", "ask What is a token?\npace fast\n")
	fmt.Println(err)
	// Output: talk.txt:2: got pace "fast"; allowed is full, step, or slow with rounds a second from 0.1 to 60
}
