package state_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"specula/engine/event"
	"specula/ui/sanitize"
	"specula/ui/state"
	"specula/ui/state/statetest"
)

func play(events ...event.Event) *state.State {
	s := state.New()
	for _, e := range events {
		s.Apply(e)
	}
	return s
}

func token(text string, v event.Verdict) event.Token {
	return event.Token{Raw: []byte(text), Text: text, Verdict: v}
}

func round(commit *event.Token, draft ...event.Token) event.Round {
	r := event.Round{Gamma: len(draft), Draft: draft, Commit: commit, VerifyMS: 10}
	for _, t := range draft {
		switch t.Verdict {
		case event.Accepted:
			r.Accepted++
			r.Tested++
		case event.Rejected:
			r.Tested++
		}
	}
	return r
}

// written returns the text of the committed tokens.
func written(m *state.Message) string {
	var out strings.Builder
	for i := range m.Tokens {
		if m.Tokens[i].Committed() {
			out.WriteString(m.Tokens[i].Text)
		}
	}
	return out.String()
}

func TestTokensStandInReadingOrder(t *testing.T) {
	lay := token(" lay", event.Resampled)
	s := play(event.ReplyStarted{Reply: 1, Prompt: "go on"},
		round(&lay, token("The", event.Accepted), token(" cat", event.Accepted), token(" sat", event.Rejected), token(" on", event.Discarded)))
	var got []string
	for _, tok := range s.Messages[1].Tokens {
		got = append(got, fmt.Sprintf("%s:%s", tok.Text, tok.Fate))
	}
	want := []string{"The:accepted", " cat:accepted", " sat:rejected", " on:discarded", " lay:resampled"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if s.Messages[0].Role != "user" || s.Messages[0].Text != "go on" {
		t.Errorf("the prompt became %+v", s.Messages[0])
	}
}

func TestPhasesFollowTheRound(t *testing.T) {
	plain := token("x", event.Plain)
	steps := []struct {
		e    event.Event
		want state.Phase
	}{
		{event.Loading{What: "target"}, state.Loading},
		{event.Ready{}, state.Idle},
		{event.ReplyStarted{Reply: 1}, state.Prefilling},
		{event.Prefill{Model: "target", Done: 1, Total: 2}, state.Prefilling},
		{event.Drafted{Tokens: []event.Token{token("a", "")}}, state.Verifying},
		{round(&plain), state.Drafting},
		{event.ReplyEnded{Reason: "stop"}, state.Idle},
	}
	s := state.New()
	for i, step := range steps {
		s.Apply(step.e)
		if s.Phase != step.want {
			t.Errorf("step %d, %s: phase %d, want %d", i, step.e.Kind(), s.Phase, step.want)
		}
		if pending := s.Pending != nil; pending != (s.Phase == state.Verifying) {
			t.Errorf("step %d: a draft is pending: %v", i, pending)
		}
	}
}

// An escape sequence that spans tokens is dropped as a whole. Raw text does not change.
func TestRepliesAreSafeAcrossTokens(t *testing.T) {
	a, b := token("Sure\x1b]52;c;", event.Plain), token("AAAA\x07!", event.Plain)
	raw := "Sure\x1b]52;c;AAAA\x07!"
	s := play(event.ReplyStarted{Reply: 1, Prompt: "\x1b[2J"}, round(&a), round(&b), event.ReplyEnded{Text: raw})
	m := s.Messages[1]
	if got := written(m); got != "Sure!" || m.Text != "Sure!" || m.Raw != raw {
		t.Errorf("tokens %q, text %q, raw %q", got, m.Text, m.Raw)
	}
	if s.Messages[0].Text != "" || s.Messages[0].Raw != "\x1b[2J" {
		t.Errorf("prompt %+v", s.Messages[0])
	}
}

// No text that a pane may read contains an escape sequence.
func TestEverythingInTheStateIsSafe(t *testing.T) {
	for seed := range uint64(40) {
		s := play(statetest.Random(rand.New(rand.NewPCG(seed, 2)), 100)...)
		walkStrings(reflect.ValueOf(s).Elem(), "State", func(path, text string) {
			if strings.HasSuffix(path, ".Raw") || strings.Contains(path, ".safe") || strings.Contains(path, ".record.") || strings.Contains(path, ".changed.") {
				return
			}
			if safe := sanitize.Text(text); safe != text && !continues(text) {
				t.Fatalf("seed %d: %s is %q, safe would be %q", seed, path, text, safe)
			}
		})
	}
}

// A field of a round that is never set shows nothing.
func TestEveryFieldOfARoundIsSet(t *testing.T) {
	var changed event.SettingChanged
	var round event.Round
	fillAll(reflect.ValueOf(&changed).Elem())
	fillAll(reflect.ValueOf(&round).Elem())
	s := play(changed, round)
	for field, v := range reflect.ValueOf(s.Last.Round).Fields() {
		if v.IsZero() {
			t.Errorf("nothing sets Round.%s: take it from the event in newRound in ui/state/round.go", field.Name)
		}
	}
}

// fillAll gives each text and number in v a value that is not zero; bytes stay zero.
func fillAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillAll(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			fillAll(field)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillAll(v.Index(0))
	default:
		if v.CanInt() {
			v.SetInt(1)
		}
	}
}

// continues reports whether text is the second part of an emoji that spans tokens. Alone it would be
// drawn differently.
func continues(text string) bool {
	return strings.Contains(text, "\u200d") || strings.Contains(text, "\ufe0f")
}

func walkStrings(v reflect.Value, path string, visit func(path, text string)) {
	switch v.Kind() {
	case reflect.String:
		visit(path, v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			walkStrings(v.Elem(), path, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walkStrings(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			walkStrings(v.Index(i), path, visit)
		}
	}
}

func TestPositionsAreCountedOnlyWhenReached(t *testing.T) {
	x := token("x", event.Resampled)
	s := play(event.ReplyStarted{Reply: 1},
		round(&x, token("a", event.Accepted), token("b", event.Rejected), token("c", event.Discarded)),
		round(&x, token("a", event.Rejected), token("b", event.Discarded), token("c", event.Discarded)))
	got := s.Reply.Totals
	if !reflect.DeepEqual(got.PositionTested, []int{2, 1}) || !reflect.DeepEqual(got.PositionKept, []int{1, 0}) {
		t.Errorf("tested %v, kept %v", got.PositionTested, got.PositionKept)
	}
}

// The totals that the state counts equal those that the engine sums up at the end.
func TestRunningTotalsEqualTheReplys(t *testing.T) {
	events := statetest.Chat(-1)
	ended := events[len(events)-1].(event.ReplyEnded)
	running := play(events[:len(events)-1]...).Reply.Totals
	if !reflect.DeepEqual(running, ended.Totals) {
		t.Errorf("running %+v\nended   %+v", running, ended.Totals)
	}
	if s := play(events...); s.Messages[1].Text != ended.Text || written(s.Messages[1]) != ended.Text {
		t.Errorf("the tokens amount to %q", written(s.Messages[1]))
	}
}

func TestWindowsStayInsideTheReply(t *testing.T) {
	x := token("x", event.Bonus)
	one := round(&x, token("a", event.Accepted), token("b", event.Accepted))
	s := play(event.ReplyStarted{Reply: 1}, one, one, event.ReplyStarted{Reply: 2}, one)
	w := s.Recent(16)
	if w.Rounds != 1 || w.Tokens != 3 {
		t.Errorf("recent: %+v", w)
	}
}

func TestChangedSettingsMarkTheNextRound(t *testing.T) {
	x := token("x", event.Plain)
	s := play(event.ReplyStarted{Reply: 1, Settings: event.Settings{Temperature: 0.8, TopK: 40}}, round(&x),
		event.SettingChanged{Name: "sampling.temperature", From: "0.8", To: "0.2"},
		event.SettingChanged{Name: "sampling.top_k", From: "40", To: "nonsense"},
		event.SettingChanged{Name: "sampling.seed", From: "7", To: "-1"},
		event.SettingChanged{Name: "speculation.gamma_rule", To: "fixed"}, round(&x), round(&x))
	if s.Settings.Temperature != 0.2 || s.Settings.TopK != 40 || s.Settings.GammaRule != "fixed" {
		t.Errorf("settings %+v", s.Settings)
	}
	if got := s.History[1].Marks; !reflect.DeepEqual(got, []state.Mark{{Setting: "temperature", Value: "0.2"}, {Setting: "top-k", Value: "nonsense"}, {Setting: "seed", Value: "new"}, {Setting: "gamma-rule", Value: "fixed"}}) {
		t.Errorf("marks %q", got)
	}
	if s.History[0].Marks != nil || s.History[2].Marks != nil {
		t.Error("other rounds are marked too")
	}
}

func TestStepPassesOverWhatIsNotShown(t *testing.T) {
	lay, stop := token(" lay", event.Resampled), event.Token{Verdict: event.Accepted, Stop: true}
	s := play(event.ReplyStarted{Reply: 1}, round(&lay, token("The", event.Accepted), token(" sat", event.Rejected)), round(nil, stop),
		event.ReplyEnded{Reply: 1}, event.ReplyStarted{Reply: 2}, round(&lay))
	first, last := s.Messages[1].ID, s.Messages[3].ID
	at := state.Ref{Message: first, Token: 0}
	if got := s.Step(at, true, false); got != (state.Ref{Message: first, Token: 2}) {
		t.Errorf("without rejected: %+v", got)
	}
	if got := s.Step(at, true, true); got != (state.Ref{Message: first, Token: 1}) {
		t.Errorf("with rejected: %+v", got)
	}
	if got := s.Step(state.Ref{Message: first, Token: 2}, true, false); got != (state.Ref{Message: last, Token: 0}) {
		t.Errorf("over the stop token into the next reply: %+v", got)
	}
	if got := s.Step(at, false, true); got != at {
		t.Errorf("at the beginning: %+v", got)
	}
}

func TestRemoveLastGivesThePromptBack(t *testing.T) {
	s := play(event.ReplyStarted{Reply: 1, Prompt: "one"}, event.ReplyEnded{}, event.ReplyStarted{Reply: 2, Prompt: "two"}, event.ReplyEnded{})
	if raw, ok := s.RemoveLast(); raw != "two" || !ok || len(s.Messages) != 2 {
		t.Errorf("%q, %v, %d messages", raw, ok, len(s.Messages))
	}
}

// A reply without an end, as in a recording that was cut off, is ended by the next reply.
func TestCutStreamKeepsItsText(t *testing.T) {
	x := token("half", event.Plain)
	s := play(event.ReplyStarted{Reply: 1}, round(&x), event.ReplyStarted{Reply: 2})
	if m := s.Messages[1]; !m.Done || m.Text != "half" || m.Reason != "interrupted" {
		t.Errorf("%+v", m)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	s := state.New()
	x := token(" word", event.Accepted)
	x.Target = []event.Candidate{{Text: "a"}}
	draft := make([]event.Token, 16)
	for i := range draft {
		draft[i] = x
	}
	for reply := 1; reply <= 2400; reply++ {
		s.Apply(event.ReplyStarted{Reply: reply, Prompt: "p"})
		for range 3 {
			s.Apply(round(&x, draft...))
		}
		s.Apply(event.ReplyEnded{Reply: reply, Text: "text"})
		s.Apply(event.Notice{Text: "n"})
	}
	tokens, candidates := 0, 0
	for _, m := range s.Messages {
		tokens += len(m.Tokens)
		for _, tok := range m.Tokens {
			candidates += len(tok.Target)
		}
	}
	if len(s.Messages) > 2000 || s.Dropped != 4800-len(s.Messages) {
		t.Errorf("%d messages, %d dropped", len(s.Messages), s.Dropped)
	}
	if tokens > 60_100 || candidates > 8_100 || len(s.History) > 2*state.HistoryLimit || len(s.Notices) > 50 {
		t.Errorf("%d tokens, %d candidates, %d rounds, %d notices", tokens, candidates, len(s.History), len(s.Notices))
	}
	if first := s.Messages[1]; first.Text != "text" {
		t.Errorf("an old reply lost its text: %+v", first)
	}
}

func ExampleState_Apply() {
	s := state.New()
	lay := event.Token{Text: " lay", Verdict: event.Resampled}
	s.Apply(event.ReplyStarted{Reply: 1, Prompt: "The cat"})
	s.Apply(event.Round{Accepted: 0, Tested: 1, Commit: &lay, Draft: []event.Token{{Text: " sat", Verdict: event.Rejected}}})
	for _, t := range s.Messages[1].Tokens {
		fmt.Printf("%q %s\n", t.Text, t.Fate)
	}
	// Output:
	// " sat" rejected
	// " lay" resampled
}

// A refused prompt leaves the cache as it was, so its length is not shown as the context in use.
func TestARefusedPromptTakesNoContext(t *testing.T) {
	s := state.New()
	s.Apply(event.ReplyStarted{Reply: 1, Prompt: "a", PromptTokens: 30, ContextTokens: 2048})
	s.Apply(event.Round{TargetLen: 40, Commit: &event.Token{Text: "b", Verdict: event.Plain}})
	s.Apply(event.ReplyEnded{Reply: 1, Reason: "stop", Text: "b"})
	s.Apply(event.ReplyStarted{Reply: 2, Prompt: "long", PromptTokens: 24897, ContextTokens: 2048})
	s.Apply(event.ReplyEnded{Reply: 2, Reason: "error"})
	if !s.Refused || s.Reply.ContextUsed != 40 {
		t.Errorf("refused: %v, context %d, want 40", s.Refused, s.Reply.ContextUsed)
	}
}
