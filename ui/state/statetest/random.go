package statetest

import (
	"math"
	"math/rand/v2"
	"reflect"

	"specula/engine/event"
)

var nasty = []string{
	"", "a", " word", "\n", "\n\n", "\t", " ", "     ", "日本", "👩\u200d", "💻", "\u0301", "e\u0301", "\u200d👦", "\ufe0f", "❤", "🇩", "🇪", "\x1b[31m", "\x1b]0;",
	"\x07", "\xff", "\xe2\x82", "\u202e", "averyveryveryveryveryveryveryveryveryveryveryverylongword", "क्षि", "ﷺ", "ผู้", "1\ufe0f\u20e3", "\r\n", "\u0085", "한",
}

// Random returns n events in random order with random content, even impossible ones. Two generators r with
// the same seed give the same events.
func Random(r *rand.Rand, n int) []event.Event {
	w := chaos{r}
	events := make([]event.Event, n)
	for i := range events {
		made := reflect.ValueOf(w.event())
		e := reflect.New(made.Type()).Elem()
		e.Set(made)
		w.fill(e)
		events[i] = e.Interface().(event.Event)
	}
	return events
}

type chaos struct{ *rand.Rand }

func (w chaos) text() string {
	text := ""
	for range w.IntN(4) {
		text += nasty[w.IntN(len(nasty))]
	}
	return text
}

// fill replaces every empty text in v by a random one, so that no field of an event is forgotten.
func (w chaos) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() == 0 {
			v.SetString(w.text())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			w.fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.fill(v.Field(i))
		}
	case reflect.Slice:
		if of := v.Type().Elem().Kind(); v.IsNil() && (of == reflect.String || of == reflect.Struct) {
			v.Set(reflect.MakeSlice(v.Type(), w.IntN(3), 3))
		}
		for i := range v.Len() {
			w.fill(v.Index(i))
		}
	}
}

func (w chaos) number() float64 {
	extremes := []float64{0, -1, 1, 0.5, 1e-12, 1e12, math.NaN(), math.Inf(1), math.Inf(-1), w.Float64(), 1000 * w.Float64()}
	return extremes[w.IntN(len(extremes))]
}

func (w chaos) count() int {
	extremes := []int{0, 1, -1, 3, 8, 500, math.MaxInt32, math.MinInt32, w.IntN(10), w.IntN(10)}
	return extremes[w.IntN(len(extremes))]
}

func (w chaos) maybe() *float64 {
	if w.IntN(3) == 0 {
		return nil
	}
	v := w.number()
	return &v
}

func (w chaos) event() event.Event {
	switch w.IntN(24) {
	case 0:
		return event.Loading{DoneBytes: int64(w.count()), TotalBytes: int64(w.count())}
	case 1:
		e := event.Ready{Target: w.model()}
		for range w.IntN(3) {
			e.Proposers = append(e.Proposers, event.Proposer{})
		}
		if w.IntN(2) == 0 {
			e.Auto = &event.Auto{}
		}
		if w.IntN(2) == 0 {
			m := w.model()
			e.Draft = &m
		}
		return e
	case 2, 3:
		return event.ReplyStarted{Reply: w.count(), PromptTokens: w.count(), ContextTokens: w.count(), Settings: w.settings()}
	case 4:
		return event.Prefill{Done: w.count(), Total: w.count(), MS: w.number()}
	case 5:
		names := []string{"temperature", "sampling.top_k", "gamma", "seed", "acceptance", w.text()}
		return event.SettingChanged{Round: w.count(), Name: names[w.IntN(len(names))], To: []string{"1", "0.5", "x", w.text()}[w.IntN(4)]}
	case 6:
		return event.ReplyEnded{Reply: w.count(), Totals: w.totals()}
	case 7:
		return event.Notice{}
	case 8:
		return event.Failed{}
	case 9, 10, 11:
		return event.Drafted{Round: w.count(), Gamma: w.count(), Probe: w.IntN(4) == 0, Tokens: w.tokens(), DraftMS: w.number()}
	default:
		return w.anyRound()
	}
}

func (w chaos) anyRound() event.Round {
	e := event.Round{
		Index: w.count(), Gamma: w.count(), Probe: w.IntN(2) == 0,
		Draft: w.tokens(), Accepted: w.count(), Tested: w.count(),
		Temperature: w.number(), DraftMS: w.number(), VerifyMS: w.number(), SampleMS: w.number(), OtherMS: w.number(),
		BytesMoved: int64(w.count()), TargetLen: w.count(), DraftLen: w.count(), Speedup: w.number(), SpeedupEstimated: w.IntN(2) == 0,
	}
	e.Lossy = w.IntN(4) == 0
	for range w.IntN(12) {
		e.Rules = append(e.Rules, event.RuleOutcome{Accepted: w.count(), Lossy: w.IntN(4) == 0})
	}
	for range w.IntN(12) {
		e.Lengths = append(e.Lengths, event.Length{Tokens: w.number(), Rounds: w.number(), Measured: w.IntN(2) == 0})
	}
	if w.IntN(2) == 0 {
		best, regret := w.count(), w.number()
		e.BestFixedGamma, e.Regret = &best, &regret
	}
	if w.IntN(4) > 0 {
		t := w.token()
		e.Commit = &t
	}
	return e
}

func (w chaos) model() event.Model {
	return event.Model{Parameters: int64(w.count())}
}

func (w chaos) settings() event.Settings {
	return event.Settings{Temperature: w.number(), TopK: w.count(), TopP: w.number(), MinP: w.number(), Seed: int64(w.count()), Gamma: w.count(),
		GammaMax: w.count(), Proposer: w.proposer(), Speculate: w.IntN(2) == 0}
}

func (w chaos) totals() event.Totals {
	return event.Totals{Tokens: w.count(), Rounds: w.count(), Tested: w.count(), Accepted: w.count(), DraftMS: w.number(),
		PositionTested: make([]int, w.IntN(4)), PositionKept: make([]int, w.IntN(4))}
}

func (w chaos) tokens() []event.Token {
	tokens := make([]event.Token, w.IntN(12))
	for i := range tokens {
		tokens[i] = w.token()
	}
	return tokens
}

func (w chaos) token() event.Token {
	fates := []event.Verdict{"", event.Accepted, event.Rejected, event.Discarded, event.Resampled, event.Bonus, event.Plain, "\x1b[1munheard of"}
	t := event.Token{ID: int32(w.count()), Verdict: fates[w.IntN(len(fates))], P: w.maybe(), Q: w.maybe(), U: w.maybe(), Bound: w.maybe(), LogProb: w.maybe(), Stop: w.IntN(9) == 0}
	if w.IntN(2) == 0 {
		t.Raw = []byte(w.text())
	}
	for range w.IntN(3) {
		t.Target = append(t.Target, event.Candidate{ID: int32(w.IntN(9)), P: w.number()})
		t.Draft = append(t.Draft, event.Candidate{ID: int32(w.IntN(9)), P: w.number()})
		t.LogProbs = append(t.LogProbs, event.Candidate{ID: int32(w.IntN(9)), P: w.number()})
	}
	return t
}

// proposer returns a random text or "auto", for which the screen also shows the chosen proposer.
func (w chaos) proposer() string {
	if w.IntN(2) == 0 {
		return "auto"
	}
	return w.text()
}
