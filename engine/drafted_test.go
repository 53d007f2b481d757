package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"specula/engine"
	"specula/tokenizer/chat"
)

// again writes a reply once more in a new session, with the settings and drafts that its events tell, and returns
// its tokens.
func again(t *testing.T, e *engine.Engine, r record, prompt string) []int32 {
	t.Helper()
	settings := []string{"drafts", r.ended.Drafts}
	for name, text := range r.started.Config {
		settings = append(settings, name, text)
	}
	return write(t, session(t, e, settings...), user(prompt), nil).ended.IDs
}

// A reply is written again byte for byte from its settings, its seed and what its rounds drafted. The
// seed is not enough, because drafts depend on the clock and on earlier replies.
func TestAReplyWithADrawnSeedIsWrittenAgain(t *testing.T) {
	for _, p := range engine.Registered() {
		proposer := p.Name
		for _, settings := range [][]string{
			{}, {"acceptance", "block", "gamma-rule", "windowed"}, {"repeat-penalty", "1.2", "top-k", "30", "costs", "measured"},
		} {
			t.Run(proposer+" "+strings.Join(settings, " "), func(t *testing.T) {
				s := session(t, pair(), append([]string{"temperature", "1", "max-tokens", "60", "proposer", proposer}, settings...)...)
				for i := range 3 {
					prompt := unsure()[i%2] // for the third reply, proposers may recall the first
					r := write(t, s, user(prompt), nil)
					if r.failed != "" || r.started.Config["sampling.seed"] != fmt.Sprint(r.started.Settings.Seed) {
						t.Fatalf("error %q, settings %v", r.failed, r.started.Config)
					}
					if ids := again(t, pair(), r, prompt); !slices.Equal(ids, r.ended.IDs) {
						t.Errorf("reply %d, drafts %s:\nwas   %v\nagain %v", i, r.ended.Drafts, r.ended.IDs, ids)
					}
				}
			})
		}
	}
}

func TestDraftsOfAnotherModelAreRefused(t *testing.T) {
	r := write(t, session(t, pair(), "temperature", "1", "drafts", "=70000"), user("hello"), nil)
	if !strings.Contains(r.failed, "another model") {
		t.Errorf("error %q", r.failed)
	}
}

// A round drafts as many tokens as the setting drafts says, and by the proposer that it says, whatever the rule of γ
// and a lookup would choose.
func TestGivenDraftsAreMade(t *testing.T) {
	const answer = "I am fine, thank you. How are you?"
	twice := append(user("hello"), chat.Message{Role: "assistant", Content: answer}, chat.Message{Role: "user", Content: "hello"})
	for _, tt := range []struct {
		settings []string
		lengths  []int
	}{
		{[]string{"proposer", "draft", "temperature", "3", "drafts", "8x4,0,1,=40.321,3"}, []int{8, 8, 8, 8, 0, 1, 2, 3}}, // every kind of entry
		{[]string{"proposer", "combined", "temperature", "0.1", "drafts", "3x2"}, []int{3, 3}},                            // a lookup would copy the earlier reply
	} {
		r := write(t, session(t, pair(), append(tt.settings, "seed", "5", "max-tokens", "200")...), twice, nil)
		if len(r.rounds) < len(tt.lengths) {
			t.Fatalf("%v: %d rounds, %s", tt.settings, len(r.rounds), r.failed)
		}
		for i, want := range tt.lengths {
			round := r.rounds[i]
			ended := round.DraftStop == "the draft ends the reply"
			if len(round.Draft) != want && !ended || want == 3 && round.Proposer != "draft" {
				t.Errorf("%v, round %d: %d tokens by %s (%s), want %d by the draft model", tt.settings, i, len(round.Draft), round.Proposer, round.DraftStop, want)
			}
		}
	}
}
