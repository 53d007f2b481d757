//go:build cuda && linux && cgo

package gpu_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
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

// The law of sampled rounds: whatever is drafted, the text has the target's distribution. This
// file writes the languages of package gate by rounds on the device, with the same draft proposer
// and verifier as replies. In place of both transformers there are tables of scores on the device,
// so that a round takes a few kernels and very many can be played.

// tables are the scores of a world: for each position one row per previous token.
type tables struct {
	compute.Backend
	compute.Feeder
	world         *gate.World
	draft, target []compute.Matrix // by position: a row of scores for each previous token
	scores, row   compute.Buffer
	rows          compute.Buffer // of the target
	ahead         compute.Tokens // for drafts that come from the host
	masked        bool           // tokens are forbidden, as lawAllows says
}

func newTables(t *testing.T, b compute.Backend, w *gate.World, most int) *tables {
	t.Helper()
	w.Round(func(f float32) float32 { return ref.FromHalf(ref.ToHalf(f)) })
	l := &tables{Backend: b, Feeder: b.(compute.Feeder), world: w}
	for position := range w.Depth {
		l.draft = append(l.draft, l.matrix(t, position, w.DraftScores))
		l.target = append(l.target, l.matrix(t, position, w.TargetScores))
	}
	for _, buffer := range []struct {
		to   *compute.Buffer
		rows int
	}{{&l.scores, 1}, {&l.row, 1}, {&l.rows, most + 1}} {
		var err error
		if *buffer.to, err = b.Buffer(buffer.rows, w.Vocab); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if l.ahead, err = l.Feeder.Tokens(most + 2); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.ahead.Close() })
	return l
}

func (l *tables) matrix(t *testing.T, position int, scores func(int, int32) []float32) compute.Matrix {
	var data []byte
	for before := range l.world.Vocab {
		for _, score := range scores(position, int32(before)) {
			data = binary.LittleEndian.AppendUint16(data, ref.ToHalf(score))
		}
	}
	m, err := l.Matrix(t.Context(),
		compute.Weight{Name: "scores", Type: compute.F16, Rows: l.world.Vocab,
			Cols: l.world.Vocab, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// read is a cache that only counts.
type read struct {
	compute.Cache
	n int
}

func (r *read) Len() int             { return r.n }
func (r *read) Cap() int             { return 1000 }
func (r *read) Truncate(n int) error { r.n = n; return nil }
func (r *read) Close() error         { return nil }

func (l *tables) NewCache() (compute.Cache, error) { return &read{}, nil }
func (l *tables) Feeds() bool                      { return true }

func (l *tables) Tokens(n int) (compute.Tokens, error) { return l.Feeder.Tokens(n) }

// Prefill gives the draft's scores after the last of ids. Before a chain they are not needed.
func (l *tables) Prefill(_ context.Context, cache compute.Cache, ids []int32,
	_ func(int, int)) (compute.Logits, error) {
	cache.(*read).n += len(ids)
	if err := l.Embed(l.scores, l.draft[cache.Len()-1], ids[len(ids)-1:]); err != nil {
		return nil, err
	}
	return l.Logits(l.scores, 1)
}

// Chain draws n tokens. The first follows the last of ids.
func (l *tables) Chain(_ context.Context, cache compute.Cache, ids []int32, n int, t compute.Tokens,
	by *compute.Sampling) error {
	position := cache.Len() + len(ids) - 1 // of the first token drawn
	last := ids[len(ids)-1]
	err := errors.Join(l.Embed(l.scores, l.draft[position], []int32{last}), t.Sample(*by), t.Put(0, last),
		l.Draw(l.scores, t, 1))
	for i := 1; i < n && err == nil; i++ {
		err = errors.Join(l.EmbedTokens(l.scores, l.draft[position+i], t, i, 1), l.Draw(l.scores, t, i+1))
	}
	cache.(*read).n += len(ids) + n - 1
	return errors.Join(err, t.Mark())
}

// pass scores n+1 tokens of t. The first of them is the token just before position.
func (l *tables) pass(t compute.Tokens, position, n int) (compute.Logits, error) {
	var err error
	for i := range n + 1 {
		err = errors.Join(err, l.EmbedTokens(l.row, l.target[position+i], t, i, 1),
			l.Copy(l.rows, l.row, 1, compute.Block{Row: i}))
	}
	if err != nil {
		return nil, err
	}
	return l.Logits(l.rows, n+1)
}

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

// lawMask is the mask of a masked language as a shaper of drafts.
type lawMask struct {
	*tables
	from []int32 // the context of the draft, and what was pushed
}

func (m *lawMask) Name() string        { return "mask" }
func (m *lawMask) Push(id int32)       { m.from = append(m.from, id) }
func (m *lawMask) Pop(n int)           { m.from = m.from[:len(m.from)-n] }
func (m *lawMask) Reset([]int32) error { return nil }

func (m *lawMask) Shape([]float32) error { return errors.New("a row came to the host") }

func (m *lawMask) Mask(allowed []uint64) error {
	last := len(m.from) - 1
	for i, word := range m.masks(last, m.from[last:]) {
		allowed[i] &= word
	}
	return nil
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

// lawAllows is the mask of a masked language: whether a token may come at a position, given the token before.
func lawAllows(position int, before, id int32) bool { return (7*int(id)+3*int(before)+position)%5 >= 2 }

// masks returns the masks of the rows after each of ids, of which the first is the token before position.
func (l *tables) masks(position int, ids []int32) []uint64 {
	words := compute.MaskWords(l.world.Vocab)
	masks := make([]uint64, words*len(ids))
	for i, before := range ids {
		for id := range l.world.Vocab {
			if lawAllows(position+i, before, int32(id)) {
				masks[i*words+id/64] |= 1 << (id % 64)
			}
		}
	}
	return masks
}

// lawSharpen is the factor on the draft's temperature.
const lawSharpen = 0.8

// byRule has the rules as the device judges by them.
var byRule = map[spec.Rule]func(p, q []ref.WeightRow, ids []int32, round ref.Round) ref.Rejection{
	spec.Token: ref.Reject, spec.ExactMatch: ref.MatchDraws,
	spec.Block: func(p, q []ref.WeightRow, ids []int32, round ref.Round) ref.Rejection {
		return ref.JudgeBlock(p, q, ids, round).Rejection
	},
}

// replay returns a check that repeats a round on the host, with kernels/ref, and wants the same
// result.
func (l *tables) replay(certain bool, rule spec.Rule) func(round ref.Round, context, ids []int32, o spec.Outcome) error {
	return func(round ref.Round, context, ids []int32, o spec.Outcome) error {
		round.Drafts = int32(len(ids))
		row := func(scores []float32, sharpen float64) ref.WeightRow {
			f := l.world.Params
			by := ref.Filters{Temperature: float32(sharpen * f.Temperature),
				FilterTemperature: float32(sharpen * f.Temperature), TopP: float32(f.TopP),
				MinP: float32(f.MinP), TopK: int32(f.TopK)}
			if f.TemperatureLast {
				by.FilterTemperature = 1
			}
			return ref.SoftmaxRow(scores, ref.CutRow(scores, by), by)
		}
		var p, q []ref.WeightRow
		before, position := context[len(context)-1], len(context)-1
		for i := range len(ids) + 1 {
			masked := func(scores []float32) []float32 {
				scores = slices.Clone(scores)
				if l.masked {
					ref.MaskRow(scores, l.masks(position+i, []int32{before}))
				}
				return scores
			}
			p = append(p, row(masked(l.world.TargetScores(position+i, before)), 1))
			if i == len(ids) {
				break
			}
			if certain {
				round.Certain |= 1 << i
				q = append(q, ref.WeightRow{})
			} else {
				q = append(q, row(masked(l.world.DraftScores(position+i, before)), lawSharpen))
				if want := q[i].Draw(round, ref.DraftDraw, i); int(ids[i]) != want {
					return fmt.Errorf("draft token %d is %d, on the host %d", i, ids[i], want)
				}
			}
			before = ids[i]
		}
		want := byRule[rule](p, q, ids, round)
		if o.Accepted != want.Accepted || int(o.Commit.ID) != want.Commit ||
			float32(o.Commit.P) != want.Chance {
			return fmt.Errorf("accepted %d and then %d with p %v; on the host %d, %d, %v", o.Accepted,
				o.Commit.ID, o.Commit.P, want.Accepted, want.Commit, want.Chance)
		}
		return nil
	}
}

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

// The host can compute the device's uniforms, and comes to the same tokens.
func TestSampledRoundsReplayedOnTheHost(t *testing.T) {
	b := open(t)
	for _, l := range languages {
		if l.damaged {
			continue // after a draft that broke off, device and host use different uniforms
		}
		t.Run(l.name, func(t *testing.T) {
			p := l.player(t, b)
			p.check = p.replay(l.certain, l.rule)
			for trial := range 100 {
				p.play(t, trial)
			}
			again := l.player(t, b)
			for trial := range 5 {
				if first, second := p.play(t, trial), again.play(t, trial); !slices.Equal(first.Tokens,
					second.Tokens) {
					t.Errorf("reply %d is %v, and a second time %v", trial, first.Tokens, second.Tokens)
				}
			}
			t.Logf("%d rounds, %d draft tokens accepted", p.rounds, p.accepted)
			if p.accepted < 10 {
				t.Errorf("only %d draft tokens were accepted", p.accepted)
			}
		})
	}
}
