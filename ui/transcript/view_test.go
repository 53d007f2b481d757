package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/state"
	"specula/ui/state/statetest"
	"specula/ui/theme"
	"specula/ui/transcript"
)

func dark(t testing.TB) *theme.Theme {
	t.Helper()
	th, ok := theme.Named("dark", true)
	if !ok {
		t.Fatal("no theme dark")
	}
	return th
}

func play(events []event.Event) *state.State {
	s := state.New()
	for _, e := range events {
		s.Apply(e)
	}
	return s
}

// Wrapping while the text grows gives what wrapping it at once gives, in every mode and after
// every event.
func TestGrowingEqualsFresh(t *testing.T) {
	th := dark(t)
	for _, o := range []transcript.Options{{}, {Rejected: transcript.All}, {Rejected: transcript.Never}, {Reading: true}} {
		s, growing := state.New(), transcript.New()
		for i, e := range statetest.Chat(-1) {
			s.Apply(e)
			got, want := growing.Draw(s, th, 50, 12, o), transcript.New().Draw(s, th, 50, 12, o)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Fatalf("%+v, event %d:\n%s\nfresh:\n%s", o, i, ansi.Strip(strings.Join(got, "\n")), ansi.Strip(strings.Join(want, "\n")))
			}
		}
	}
}

func TestRejectedTokensAreStruckOutThenReplaced(t *testing.T) {
	th := dark(t)
	lay, down := event.Token{Text: " lay", Verdict: event.Resampled}, event.Token{Text: " down", Verdict: event.Bonus}
	s := play([]event.Event{event.ReplyStarted{Reply: 1, Prompt: "?"}, event.Round{Commit: &lay, Accepted: 1, Tested: 2, Draft: []event.Token{
		{Text: "It", Verdict: event.Accepted}, {Text: " sat", Verdict: event.Rejected}}}})
	line := func(o transcript.Options) string { return transcript.New().Draw(s, th, 40, 9, o)[2] }

	if got := line(transcript.Options{}); !strings.Contains(got, th.Rejected.On("sat")) || !strings.Contains(got, th.Resampled.On("lay")) {
		t.Errorf("in the newest round: %q", got)
	}
	s.Apply(event.Drafted{Tokens: []event.Token{{Text: " still"}}})
	if got := line(transcript.Options{}); !strings.Contains(got, th.Rejected.On("sat")) || !strings.Contains(got, th.Pending.On("still")) {
		t.Errorf("while the next draft waits: %q", got)
	}
	for range 3 {
		if got := strings.TrimSpace(ansi.Strip(line(transcript.Options{}))); !strings.HasPrefix(got, "It sat lay") {
			t.Errorf("in the last three rounds: %q", got)
		}
		s.Apply(event.Round{Commit: &down})
		down.Text = ""
	}
	for name, c := range map[string]struct {
		o    transcript.Options
		want string
	}{
		"recent":  {transcript.Options{}, "It lay down"},
		"all":     {transcript.Options{Rejected: transcript.All}, "It sat lay down"},
		"never":   {transcript.Options{Rejected: transcript.Never}, "It lay down"},
		"reading": {transcript.Options{Reading: true, Rejected: transcript.All}, "It lay down"},
	} {
		if got := strings.TrimSpace(ansi.Strip(line(c.o))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	s.Apply(event.ReplyEnded{Reply: 1, Reason: "stop", Text: "It lay down"})
	if got := strings.TrimSpace(ansi.Strip(line(transcript.Options{}))); got != "It sat lay down" {
		t.Errorf("once the reply is complete: %q", got)
	}
	s.Apply(event.ReplyStarted{Reply: 2, Prompt: "?"})
	if got := strings.TrimSpace(ansi.Strip(line(transcript.Options{}))); got != "It lay down" {
		t.Errorf("after the next prompt: %q", got)
	}
	if got := line(transcript.Options{Reading: true}); strings.Contains(got, "\x1b") {
		t.Errorf("reading view has styles: %q", got)
	}
}

func TestWithoutSpeculationThereIsNothingToTellApart(t *testing.T) {
	th := dark(t)
	x := event.Token{Text: "plain", Verdict: event.Plain}
	s := play([]event.Event{event.ReplyStarted{Reply: 1}, event.Round{Commit: &x}})
	if got := transcript.New().Draw(s, th, 40, 5, transcript.Options{})[2]; strings.Contains(got, "\x1b") {
		t.Errorf("styled: %q", got)
	}
}

// A click on a cell selects the token that is drawn there.
func TestHitFindsTheTokenUnderTheMouse(t *testing.T) {
	th, s, v := dark(t), play(statetest.Chat(-1)), transcript.New()
	o := transcript.Options{Rejected: transcript.All}
	lines := v.Draw(s, th, 60, 20, o)
	hits := 0
	for y, text := range lines {
		for x := range 60 {
			ref, ok := v.Hit(x, y)
			if !ok {
				continue
			}
			hits++
			tok, _ := s.Token(ref)
			cell := ansi.Strip(ansi.Cut(text, x, x+1))
			drawn := ""
			if tok != nil {
				drawn = strings.ReplaceAll(tok.Text, "\n", "↵")
			}
			if tok != nil && tok.Fate == event.Rejected {
				drawn += " " // it stands apart
			}
			if !strings.Contains(drawn, cell) {
				t.Fatalf("cell %d,%d shows %q, the token there is %+v", x, y, cell, tok)
			}
			o.Cursor = ref
			marked := transcript.New().Draw(s, th, 60, 20, o)[y]
			if !strings.Contains(marked, string(th.Cursor)) {
				t.Fatalf("the cursor is not on line %d", y)
			}
		}
	}
	if hits < 300 {
		t.Errorf("only %d cells belong to tokens", hits)
	}
	if _, ok := v.Hit(-1, 0); ok {
		t.Error("a cell outside belongs to a token")
	}
}

func TestVerticalKeepsTheColumn(t *testing.T) {
	th, s, v := dark(t), play(statetest.Chat(-1)), transcript.New()
	v.Draw(s, th, 40, 10, transcript.Options{})
	ref, ups := s.Newest(), 0
	for {
		next, ok := v.Vertical(ref, false)
		if !ok {
			break
		}
		if next.Token >= ref.Token {
			t.Fatalf("up from token %d goes to %d", ref.Token, next.Token)
		}
		ref = next
		ups++
	}
	if ups < 10 || ref.Token > 10 {
		t.Errorf("%d lines up, ended on token %d", ups, ref.Token)
	}
}

func TestRevealBringsTheTokenIntoView(t *testing.T) {
	th, s, v := dark(t), play(statetest.Chat(-1)), transcript.New()
	v.Draw(s, th, 40, 8, transcript.Options{})
	ref := state.Ref{Message: s.Messages[1].ID, Token: 0}
	v.Reveal(ref)
	lines := strings.Join(v.Draw(s, th, 40, 8, transcript.Options{Cursor: ref}), "\n")
	if !strings.Contains(lines, string(th.Cursor)) || v.Following() {
		t.Errorf("following %v:\n%s", v.Following(), ansi.Strip(lines))
	}
}

func TestScrolling(t *testing.T) {
	th, s, v := dark(t), play(statetest.Chat(-1)), transcript.New()
	draw := func(w int) []string { return v.Draw(s, th, w, 6, transcript.Options{}) }
	end := draw(40)[5]
	if !v.Following() || v.Below() != 0 || !strings.Contains(end, "complete") {
		t.Fatalf("at first %d lines are below, the last is %q", v.Below(), end)
	}
	v.Scroll(-4)
	if v.Following() || v.Below() != 4 {
		t.Errorf("after scrolling up: following %v, %d lines below", v.Following(), v.Below())
	}
	word := func() string { return strings.Fields(ansi.Strip(draw(40)[0]))[0] }
	top := word()
	s.Apply(event.ReplyStarted{Reply: 2, Prompt: "and then?"}) // the refused tokens go
	if got := word(); got != top {
		t.Errorf("new text moved the window: %q became %q", top, got)
	}
	v.Scroll(1000)
	if !v.Following() {
		t.Error("scrolled to the end, but not following")
	}
	v.Scroll(-1000)
	if v.Above() != 0 {
		t.Errorf("%d lines above the beginning", v.Above())
	}
}

// When the window's width changes, its first words stay in it. When it changes back, they are
// where they were.
func TestResizeKeepsThePlace(t *testing.T) {
	th, s, v := dark(t), play(statetest.Chat(-1)), transcript.New()
	v.Draw(s, th, 60, 6, transcript.Options{})
	v.Scroll(-6)
	before := ansi.Strip(v.Draw(s, th, 60, 6, transcript.Options{})[0])
	word := strings.Fields(before)[0]
	narrow := ansi.Strip(strings.Join(v.Draw(s, th, 30, 6, transcript.Options{})[:2], "\n"))
	if !strings.Contains(narrow, word) {
		t.Errorf("%q is no longer at the top:\n%s", word, narrow)
	}
	if after := ansi.Strip(v.Draw(s, th, 60, 6, transcript.Options{})[0]); after != before {
		t.Errorf("the top line was %q, is %q", before, after)
	}
}

// A reader who has scrolled back keeps the place when refused tokens appear, at the end of the reply,
// and when they go, at the next prompt.
func TestRefusedTokensDoNotMoveTheReader(t *testing.T) {
	th, s, v := dark(t), play(statetest.Chat(36)), transcript.New()
	top := func() string { return ansi.Strip(v.Draw(s, th, 60, 6, transcript.Options{})[0]) }
	top()
	v.Scroll(-3)
	word := strings.Fields(top())[0]
	for _, e := range []event.Event{event.ReplyEnded{Reply: 1, Reason: "stop"}, event.ReplyStarted{Reply: 2, Prompt: "?"}} {
		s.Apply(e)
		if got := top(); !strings.Contains(got, word) {
			t.Errorf("after %T the first line is %q, want the one with %q", e, got, word)
		}
	}
}

// A refused token does not touch the word that takes its place.
func TestARefusedTokenStandsApart(t *testing.T) {
	th := dark(t)
	for _, c := range []struct{ drawn, want string }{{"ed", "think ing ed"}, {" out", "think ing out"}, {"\n", "think ing"}} {
		s := play([]event.Event{event.ReplyStarted{Reply: 1}, event.Round{
			Draft: []event.Token{
				{Raw: []byte("think"), Text: "think", Verdict: event.Accepted},
				{Raw: []byte("ing"), Text: "ing", Verdict: event.Rejected}, {Raw: []byte(" so"), Text: " so", Verdict: event.Discarded},
			},
			Commit: &event.Token{Raw: []byte(c.drawn), Text: c.drawn, Verdict: event.Resampled},
		}})
		lines := transcript.New().Draw(s, th, 40, 8, transcript.Options{})
		if got := strings.TrimSpace(ansi.Strip(lines[2])); got != c.want {
			t.Errorf("%q after a refused token: %q, want %q", c.drawn, got, c.want)
		}
		if strings.Contains(lines[2], "ing "+th.Rejected.On("")) {
			t.Error("the gap is struck out")
		}
	}
}

// Looking back, the chat shows what was known then: later tokens are missing, and draft tokens without a
// verdict are pending.
func TestLookingBack(t *testing.T) {
	th := dark(t)
	drafted := event.Round{
		Draft: []event.Token{
			{Raw: []byte(" cat"), Text: " cat", Verdict: event.Accepted}, {Raw: []byte(" sat"), Text: " sat", Verdict: event.Rejected},
			{Raw: []byte(" on"), Text: " on", Verdict: event.Discarded},
		},
		Commit: &event.Token{Raw: []byte(" lay"), Text: " lay", Verdict: event.Resampled},
	}
	plain := event.Round{Commit: &event.Token{Raw: []byte("The"), Text: "The", Verdict: event.Plain}}
	s := play([]event.Event{event.ReplyStarted{Reply: 1}, plain, drafted, plain, event.ReplyEnded{Reply: 1}, event.ReplyStarted{Reply: 2, Prompt: "later"}})
	v, at := transcript.New(), state.Moment{Message: s.Messages[1].ID}
	for _, c := range []struct {
		round, steps int
		want         string
	}{
		{0, 1, "The"}, {1, 0, "The[ cat][ sat][ on]"}, {1, 1, "The cat[ sat][ on]"}, {1, 2, "The cat sat"}, {1, 3, "The cat sat lay"}, {2, 1, "The cat sat layThe"},
	} {
		at.Round, at.Steps = c.round, c.steps
		line := v.Draw(s, th, 40, 12, transcript.Options{At: at})[2]
		for _, pending := range []string{"cat", "sat", "on"} {
			line = strings.ReplaceAll(line, " "+th.Pending.On(pending), "[ "+pending+"]")
		}
		if got := strings.TrimSpace(ansi.Strip(line)); got != c.want {
			t.Errorf("round %d, step %d: %q, want %q", c.round, c.steps, got, c.want)
		}
	}
	if all := ansi.Strip(strings.Join(v.Draw(s, th, 40, 12, transcript.Options{}), "\n")); !strings.Contains(all, "later") {
		t.Errorf("in the present the newest message is missing:\n%s", all)
	}
}

func TestWelcomeAndErrors(t *testing.T) {
	th := dark(t)
	lines := transcript.New().Draw(state.New(), th, 21, 3, transcript.Options{Welcome: []string{"specula"}})
	if got := ansi.Strip(lines[1]); got != "       specula       " {
		t.Errorf("welcome: %q", got)
	}
	s := play([]event.Event{
		event.ReplyStarted{Reply: 1}, event.Round{Commit: &event.Token{Text: "word", Verdict: event.Plain}},
		event.Failed{Error: "the logits are NaN"}, event.ReplyEnded{Reply: 1, Reason: "error", Text: "word"},
	})
	if all := strings.Join(transcript.New().Draw(s, th, 40, 8, transcript.Options{}), "\n"); !strings.Contains(all, th.Error.On("the logits are NaN")) {
		t.Errorf("the error is not shown:\n%s", all)
	}
}

// BenchmarkDraw draws a frame of the chat pane while a reply of thousands of tokens grows.
func BenchmarkDraw(b *testing.B) {
	th, s, v := dark(b), state.New(), transcript.New()
	events := statetest.Chat(-1)
	s.Apply(events[1])
	for len(s.Messages[1].Tokens) < 5000 {
		for _, e := range events {
			if r, ok := e.(event.Round); ok {
				s.Apply(r)
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		v.Draw(s, th, 130, 44, transcript.Options{})
	}
}

func ExampleView_Draw() {
	th, _ := theme.Named("mono", true)
	s := state.New()
	s.Reopen([]state.Turn{{Role: "user", Raw: "What is speculation?"}, {Role: "assistant", Raw: "A guess that is checked before anyone relies on it."}})
	for _, line := range transcript.New().Draw(s, th, 32, 5, transcript.Options{}) {
		fmt.Println(strings.TrimRight(ansi.Strip(line), " "))
	}
	// Output:
	// ▸ What is speculation?
	//
	//   A guess that is checked
	//   before anyone relies on it.
}

// The whole reason of a failure is shown, however narrow the window, and what follows it moves
// down.
func TestFailuresAreWrapped(t *testing.T) {
	const why = "the prompt has 9,000 tokens and the context holds 2,048: begin a new chat, or start with a longer --context"
	s := play([]event.Event{
		event.ReplyStarted{Reply: 1, Prompt: "?"}, event.Round{Commit: &event.Token{Text: "It", Verdict: event.Plain}},
		event.Failed{Error: why}, event.ReplyEnded{Reply: 1, Reason: "error", Text: "It"},
	})
	for _, w := range []int{40, 60, 200} {
		lines := transcript.New().Draw(s, dark(t), w, 12, transcript.Options{})
		got := strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), " ")
		if want := "▸ ? It " + why + " failed"; !strings.Contains(got, want) {
			t.Errorf("at %d columns: no %q in\n%s", w, want, ansi.Strip(strings.Join(lines, "\n")))
		}
	}
}

// The lines of an empty chat are wrapped where they do not fit.
func TestTheWelcomeIsWrapped(t *testing.T) {
	const hint = `The built-in pair knows its own subject: try "What is speculative decoding?"`
	for _, w := range []int{40, 60, 80} {
		lines := transcript.New().Draw(state.New(), dark(t), w, 10, transcript.Options{Welcome: []string{"specula", "", hint}})
		got := strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), " ")
		if got != "specula "+hint {
			t.Errorf("at %d columns: %q", w, got)
		}
	}
}

// A thought takes one line, until the cursor is on one of its tokens.
func TestThoughtsAreFolded(t *testing.T) {
	events := []event.Event{event.ReplyStarted{Reply: 1, Prompt: "?"}}
	for i, word := range []string{"<think>", "secret", "</think>", "\n\n", "answer"} {
		events = append(events, event.Round{Index: i, Commit: &event.Token{Text: word, Verdict: event.Plain, Thought: i < 3}})
	}
	s := play(events)
	reply := s.Messages[len(s.Messages)-1]
	draw := func(cursor state.Ref) string {
		return ansi.Strip(strings.Join(transcript.New().Draw(s, dark(t), 60, 20, transcript.Options{Cursor: cursor}), "\n"))
	}
	if got := draw(state.Ref{}); strings.Contains(got, "secret") || !strings.Contains(got, "[thought for 3 tokens]") || !strings.Contains(got, "answer") {
		t.Errorf("folded:\n%s", got)
	}
	if got := draw(state.Ref{Message: reply.ID, Token: 1}); !strings.Contains(got, "secret") || strings.Contains(got, "thought for") {
		t.Errorf("with the cursor in it:\n%s", got)
	}
}
