package engine_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/weights/random"
)

// counting counts the passes of target and draft, and the rows that the draft model reads.
type counting struct {
	compute.Backend
	target        compute.Matrix // the table that the target looks its tokens up in
	passes, rows  int            // of the draft
	targetsPasses int
	read          []int32 // tokens that the draft read since the test emptied this list
}

func (b *counting) Embed(dst compute.Buffer, table compute.Matrix, ids []int32) error {
	if b.target == nil && table.Rows() > 1 { // heads look up a constant while they load
		b.target = table // the first pass is the target's
	}
	if table == b.target {
		b.targetsPasses++
	} else {
		b.passes++
		b.rows += len(ids)
		b.read = append(b.read, ids...)
	}
	return b.Backend.Embed(dst, table, ids)
}

// counted opens a session whose draft model knows nothing; its calibration is not counted.
func counted(t *testing.T, settings ...string) (*engine.Session, *counting) {
	t.Helper()
	hostile, err := random.Scramble("hostile", assets.Draft())
	if err != nil {
		t.Fatal(err)
	}
	b := &counting{Backend: host.New(1)}
	o := options(b)
	o.Draft.Embedded = hostile
	// Nothing here may depend on the clock: a millisecond passes with every look at it.
	now := time.Unix(0, 0)
	o.Now = func() time.Time { now = now.Add(time.Millisecond); return now }
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, e, settings...)
	b.passes, b.rows, b.targetsPasses = 0, 0, 0
	return s, b
}

func TestADraftThatIsNotAskedDoesNotRead(t *testing.T) {
	s, b := counted(t, "temperature", "0", "max-tokens", "16", "gamma-rule", "fixed", "gamma", "2")
	plain := write(t, session(t, pair(), "temperature", "0", "max-tokens", "16", "speculate", "off"), user("Tell me a story."), nil)
	change(t, s, "gamma-rule", "cost-aware", "max-tokens", "1") // one token leaves no room for a draft
	r := write(t, s, user("Tell me a story."), nil)
	if b.passes != 0 || r.ended.Totals.ReadMS != 0 {
		t.Errorf("a draft that could not be used read %d tokens in %d passes", b.rows, b.passes)
	}
	change(t, s, "gamma-rule", "fixed", "max-tokens", "16")
	r = write(t, s, user("Tell me a story."), nil)
	first := r.rounds[0]
	if first.Read != r.started.PromptTokens-1 || first.ReadMS <= 0 || r.ended.Totals.ReadMS != first.ReadMS {
		t.Errorf("the first draft read %d tokens of a prompt of %d in %g ms, all rounds took %g", first.Read, r.started.PromptTokens, first.ReadMS, r.ended.Totals.ReadMS)
	}
	if !slices.Equal(r.ended.IDs, plain.ended.IDs) {
		t.Errorf("wrote %q, want %q", r.ended.Text, plain.ended.Text)
	}
}

// While a draft model is not asked, it reads nothing. Before its next draft it reads all tokens of these
// rounds.
func TestADraftThatRestedReadsAllThatWasCommitted(t *testing.T) {
	s, b := counted(t, "temperature", "0", "max-tokens", "60", "gamma-rule", "cost-aware", "costs", "nominal")
	for _, p := range assets.Prompts()[:8] {
		write(t, s, user(p), nil) // the session learns that no draft token is accepted
	}
	var written []int32
	rested, drafted := 0, false
	write(t, s, user("Tell me a story."), func(e event.Event) {
		round, ok := e.(event.Round)
		if !ok {
			return
		}
		if n := len(round.Draft); n > 0 && rested > 20 && !drafted {
			drafted = true
			read := b.read[:len(b.read)-(n-1)] // the rest are the draft's own guesses
			if len(read) < len(written) || !slices.Equal(read[len(read)-len(written):], written) {
				t.Errorf("before its draft the model read the tokens %d, want the committed tokens %d at their end", read, written)
			}
		}
		for _, token := range round.Committed() {
			written = append(written, token.ID)
		}
		if rested++; len(round.Draft) > 0 {
			rested, written = 0, written[:0]
		}
		if rested == 30 {
			change(t, s, "gamma-rule", "fixed", "gamma", "2")
		}
		b.read = b.read[:0]
	})
	if !drafted {
		t.Error("the model never drafted after a rest")
	}
}

// A draft model whose tokens are never accepted is soon hardly asked any more. So it reads at most an eighth of the
// tokens, and a twentieth as many passes run as of the target.
func TestAHostileDraftReadsLittle(t *testing.T) {
	for _, temperature := range []string{"0", "0.7"} {
		t.Run("temperature "+temperature, func(t *testing.T) {
			s, b := counted(t, "temperature", temperature, "max-tokens", "64", "gamma-rule", "cost-aware", "costs", "nominal")
			tokens := 0
			for _, p := range assets.Prompts()[:24] {
				r := write(t, s, user(p), nil)
				tokens += r.started.PromptTokens + r.ended.Totals.Tokens
			}
			if b.passes == 0 || b.rows > tokens/8 || b.passes > b.targetsPasses/20 {
				t.Errorf("of %d tokens a hostile draft read %d, in %d passes beside %d of the target", tokens, b.rows, b.passes, b.targetsPasses)
			}
		})
	}
}

// What was learned about a proposer is still known when it is chosen again.
func TestLessonsOfAProposerAreKept(t *testing.T) {
	s, _ := counted(t, "temperature", "0", "max-tokens", "40", "gamma-rule", "cost-aware", "costs", "nominal")
	acceptance := func(proposer string) float64 {
		change(t, s, "proposer", proposer)
		return write(t, s, user("Tell me a story."), nil).rounds[0].AcceptanceByPosition[0]
	}
	fresh := acceptance("draft")
	learned := acceptance("draft")
	if other := acceptance("skip"); other != fresh {
		t.Errorf("another proposer begins with acceptance %g, a fresh one with %g", other, fresh)
	}
	if again := acceptance("draft"); again >= fresh-0.2 || learned >= fresh-0.2 {
		t.Errorf("a hostile draft is believed to hold with %g, then %g and, after another proposer, %g", fresh, learned, again)
	}
}

// A reset session recalls nothing: later measurements do not depend on what was written before.
func TestAResetForgetsEarlierChats(t *testing.T) {
	for _, name := range recalling() {
		s := session(t, pair(), "temperature", "0", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "4", "proposer", name)
		first := write(t, s, user("tell me a story about a dragon"), nil).ended.Totals
		if err := s.Reset(); err != nil {
			t.Fatal(err)
		}
		if again := write(t, s, user("tell me a story about a dragon"), nil).ended.Totals; again.Accepted != first.Accepted || again.Rounds != first.Rounds {
			t.Errorf("%s: %d tokens accepted in %d rounds, after a reset %d in %d", name, first.Accepted, first.Rounds, again.Accepted, again.Rounds)
		}
	}
}

// Drafts that always fail are expensive, so the rule stops asking for them.
func TestADraftThatFailsIsLeftAlone(t *testing.T) {
	backend := &faulty{Backend: host.New(1)}
	s := session(t, embedded(t, backend), "temperature", "0", "max-tokens", "60", "proposer", "draft", "gamma-rule", "cost-aware", "costs", "nominal")
	backend.spoil = func(_ int, row []float32) {
		if backend.drafts {
			row[0] = float32(math.NaN())
		}
	}
	failed := 0
	r := write(t, s, user("Tell me a story."), nil)
	for _, round := range r.rounds {
		if round.Gamma > 0 {
			failed++
		}
	}
	if failed == 0 || failed > 10 {
		t.Errorf("a draft that always fails was asked %d times in %d rounds", failed, len(r.rounds))
	}
}
