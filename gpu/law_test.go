//go:build cuda && linux && cgo

package gpu_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"specula/engine/compute"
	"specula/engine/sample"
	"specula/engine/spec"
	"specula/engine/spec/gate"
	"specula/gpu/driver/emulated"
	"specula/kernels/ref"
)

// The law of sampled rounds: whatever is drafted, the text has the target's distribution. These
// tests write the languages of package gate by rounds on the device, with the same draft proposer
// and verifier as replies. In place of both transformers there are tables of scores on the device
// (law_tables_test.go), so that a round takes a few kernels and very many can be played.

// judged is a pass with the device's verdict.
type judged struct {
	compute.Logits
	decision compute.Drawn
}

func (j judged) Decision() compute.Drawn { return j.decision }

// player writes replies in the language, round by round.
type player struct {
	*tables
	proposer *spec.DraftModel
	verifier *spec.Verifier
	certain  bool // draft always token 1, with no random draw
	rule     spec.Rule
	gamma    int
	check    func(round ref.Round, context, draft []int32, o spec.Outcome) error // nil: no check
	trial    int
	rounds   int
	accepted int
}

func (p *player) round(t *testing.T, u sample.Uniforms, round int, written []int32) ([]int32, error) {
	context := append([]int32{gate.Root}, written...)
	position := len(written)
	gamma := min(p.gamma, p.world.Depth-1-position)
	var rows judged
	var draft spec.Draft
	var err error
	terms := spec.Terms{Params: p.world.Params, Uniforms: u, Round: round, Written: position, Rule: p.rule, Device: true}
	sampling, _ := terms.Sampling(gamma)
	if p.certain || gamma == 0 {
		for range gamma {
			draft.Tokens, draft.Q = append(draft.Tokens, 1), append(draft.Q, sample.OneHot(1))
		}
		sampling.Certain = true
		if err := errors.Join(p.ahead.Sample(sampling), p.ahead.Put(0, context[position]),
			p.ahead.Put(1, draft.Tokens...)); err != nil {
			return nil, err
		}
		if p.masked {
			edits := compute.NewEdits()
			edits.Allowed = p.masks(position, append([]int32{context[position]}, draft.Tokens...))
			if err := p.ahead.Edit(edits); err != nil {
				return nil, err
			}
		}
		if rows.Logits, err = p.pass(p.ahead, position, gamma); err == nil {
			rows.decision, err = rows.Logits.(compute.Judge).AcceptDrawn(p.ahead)
		}
	} else if p.masked {
		draft, rows, err = p.picked(t, gamma, context, &terms)
	} else {
		draft, err = p.proposer.Propose(t.Context(),
			spec.Ask{Gamma: gamma, Params: p.world.Params, Sharpen: lawSharpen, Uniforms: u, Round: round,
				Rule: p.rule, Written: position, OnDevice: true})
		if on := draft.Device; err == nil && on != nil {
			if rows.Logits, err = p.pass(on.Tokens, position, on.N); err == nil {
				rows.decision, err = rows.Logits.(compute.Judge).AcceptDrawn(on.Tokens)
			}
			if err != nil {
				return nil, err
			}
			var ids []int32
			var q []float64
			for _, c := range rows.decision.Draft {
				if c.Q == 0 {
					c.ID = -1 // it could not be drawn
				}
				ids, q = append(ids, c.ID), append(q, c.Q)
			}
			err = on.Seen(&draft, ids, q)
		}
	}
	if err != nil && !errors.Is(err, spec.ErrNoDraft) { // ErrNoDraft means an empty draft
		return nil, err
	}
	want := int64(8 * (gamma + 1))
	if p.rule == spec.Block {
		want += int64(4 * gamma) // bounds
	}
	if bytes, syncs := rows.Moved(); bytes != want || syncs != 1 {
		return nil, fmt.Errorf("%d bytes moved with %d waits", bytes, syncs)
	}
	o, err := p.verifier.Verify(rows, draft, terms)
	if err == nil && p.check != nil {
		err = p.check(ref.Round{Seed: [2]uint32{lawSeed, 0}, Reply: uint32(p.trial), Round: uint32(round), Written: int32(position)}, context, draft.Tokens, o)
	}
	p.rounds++
	p.accepted += o.Accepted
	return o.Committed(), errors.Join(err, p.proposer.Committed(o.Committed()))
}

// picked drafts under the mask, token by token on the device, and lets the device judge the draft.
func (p *player) picked(t *testing.T, gamma int, context []int32, terms *spec.Terms) (draft spec.Draft, rows judged, err error) {
	position := len(context) - 1
	draft, err = p.proposer.Propose(t.Context(), spec.Ask{Gamma: gamma, Params: p.world.Params, Sharpen: lawSharpen, Uniforms: terms.Uniforms,
		Round: terms.Round, OnDevice: true, Shapers: sample.Shapers{&lawMask{tables: p.tables, from: context}}})
	if err != nil {
		return draft, rows, err
	}
	if draft.Drawn == nil || len(draft.Tokens) != gamma {
		return draft, rows, fmt.Errorf("%d of %d tokens drafted on the device: %s", len(draft.Tokens), gamma, draft.Stop)
	}
	before := append([]int32{context[position]}, draft.Tokens...)
	if err = p.ahead.Put(0, before...); err != nil {
		return draft, rows, err
	}
	if rows.Logits, err = p.pass(p.ahead, position, gamma); err != nil {
		return draft, rows, err
	}
	edits := compute.NewEdits()
	edits.Allowed = p.masks(position, before)
	by, _ := terms.Sampling(gamma)
	if err = errors.Join(draft.Drawn.Sample(by), draft.Drawn.Edit(edits)); err == nil {
		rows.decision, err = rows.Logits.(compute.Judge).AcceptDrawn(draft.Drawn)
	}
	return draft, rows, err
}

const lawSeed = 7

func (p *player) play(t *testing.T, trial int) (played gate.Played) {
	played.Bonus, p.trial = -1, trial
	u := sample.NewPhilox(lawSeed, trial)
	if _, err := p.proposer.Begin([]int32{gate.Root}); err != nil {
		t.Fatal(err)
	}
	for round := 0; len(played.Tokens) < p.world.Depth; round++ {
		before := p.accepted
		news, err := p.round(t, u, round, played.Tokens)
		if err != nil {
			t.Fatalf("reply %d, round %d after %v: %v", trial, round, played.Tokens, err)
		}
		played.Tokens = append(played.Tokens, news...)
		if kept := p.accepted - before; played.Bonus < 0 && kept > 0 &&
			kept == min(p.gamma, p.world.Depth-1-len(played.Tokens)+len(news)) {
			played.Bonus = len(played.Tokens) - 1
		}
	}
	return played
}

// lawSharpen is the factor on the draft's temperature.
const lawSharpen = 0.8

type language struct {
	name    string
	vocab   int
	gamma   int
	params  sample.Params
	pairing gate.Pairing
	certain bool
	damaged bool // some of the draft's scores are NaN
	replies int  // as many as a test that always runs can afford
	rule    spec.Rule
	masked  bool // tokens are forbidden
}

var languages = []language{
	{"near", 10, 2, sample.Params{Temperature: 1, TopP: 1}, gate.Near, false, false, 2500, spec.Token, false},
	{"filtered", 8, 3, sample.Params{Temperature: 0.7, TopP: 0.9, TopK: 6, MinP: 0.02}, gate.Near,
		false, false, 500, spec.Token, false},
	{"partial", 10, 1, sample.Params{Temperature: 1.5, TopP: 1}, gate.Partial, false, false, 1500, spec.Token, false},
	{"temperature last", 32, 2, sample.Params{Temperature: 1.3, TopP: 0.95, TemperatureLast: true},
		gate.Near, false, false, 500, spec.Token, false},
	{"damaged", 10, 2, sample.Params{Temperature: 1, TopP: 1}, gate.Near, false, true, 1500, spec.Token, false},
	{"certain", 8, 2, sample.Params{Temperature: 1, TopP: 1}, gate.Near, true, false, 2000, spec.Token, false},
	{"block", 10, 3, sample.Params{Temperature: 1, TopP: 1}, gate.Near, false, false, 2500, spec.Block, false},
	{"block, filtered", 8, 3, sample.Params{Temperature: 0.7, TopP: 0.9, TopK: 6, MinP: 0.02}, gate.Near, false, false, 500, spec.Block, false},
	{"block, damaged", 10, 2, sample.Params{Temperature: 1, TopP: 1}, gate.Near, false, true, 1000, spec.Block, false},
	{"block, certain", 8, 2, sample.Params{Temperature: 1, TopP: 1}, gate.Near, true, false, 1000, spec.Block, false},
	{"block, masked", 37, 2, sample.Params{Temperature: 1.2, TopP: 0.95, TopK: 12}, gate.Near, true, false, 500, spec.Block, true},
	{"exact", 10, 2, sample.Params{Temperature: 1, TopP: 1}, gate.Near, false, false, 1500, spec.ExactMatch, false},
	{"exact, filtered", 8, 3, sample.Params{Temperature: 0.7, TopP: 0.9, TopK: 6, MinP: 0.02}, gate.Near, false, false, 500, spec.ExactMatch, false},
	{"exact, damaged", 10, 2, sample.Params{Temperature: 1, TopP: 1}, gate.Near, false, true, 500, spec.ExactMatch, false},
	{"exact, certain", 8, 2, sample.Params{Temperature: 1, TopP: 1}, gate.Near, true, false, 500, spec.ExactMatch, false},
	{"masked", 37, 2, sample.Params{Temperature: 1.2, TopP: 0.95, TopK: 12}, gate.Near, true, false, 2000, spec.Token, true},
	{"masked, drawn", 37, 2, sample.Params{Temperature: 1.2, TopP: 0.95, TopK: 12}, gate.Near, false, false, 1500, spec.Token, true},
}

// lawFactor multiplies the number of replies. SPECULA_LAW=50 is for a thorough run of the emulator, which
// is too slow for every run; a GPU always makes 5 times as many replies.
func lawFactor() int {
	if n, err := strconv.Atoi(os.Getenv("SPECULA_LAW")); err == nil && n > 0 {
		return n
	}
	if !emulated.Emulated() {
		return 5
	}
	return 1
}

func (l language) player(t *testing.T, b compute.Backend) *player {
	world := gate.NewWorld(l.vocab, 5, l.params, l.pairing, 5)
	if l.damaged {
		world.Damage()
	}
	tables := newTables(t, b, world, l.gamma)
	if tables.masked = l.masked; l.masked {
		world.Mask(lawAllows)
	}
	proposer, err := spec.NewDraftModel(tables, l.vocab, l.vocab)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proposer.Close(); err != nil {
			t.Error(err)
		}
	})
	return &player{tables: tables, proposer: proposer, verifier: spec.NewVerifier(), certain: l.certain,
		gamma: l.gamma, rule: l.rule}
}

func TestLawOfSampledRounds(t *testing.T) {
	b := open(t)
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			p := l.player(t, b)
			began, replies := time.Now(), l.replies*lawFactor()
			if seed := os.Getenv("EMULATOR_SEED"); seed != "" && seed != "0" {
				replies /= 10 // another schedule does not change what is drawn
			}
			report := p.world.Judge(replies, p.world.Depth, 3,
				func(trial int) gate.Played { return p.play(t, trial) })
			t.Logf("%d replies in %d rounds, %d draft tokens accepted, %v", replies, p.rounds, p.accepted,
				time.Since(began).Round(time.Second/10))
			if failures := report.Failures(); failures != "" {
				t.Error(failures)
			}
		})
	}
}
