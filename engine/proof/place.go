package proof

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"specula/engine/sample"
	"specula/engine/spec"
)

const (
	explored   = 32 // places of the reply that are looked at
	judgedMost = 8  // likeliest tokens of each position that have a cell of their own
	tastes     = 12 // drafts that are looked at before a place is chosen
)

// place is a point of a reply and the target's opinion there.
type place struct {
	root  []int32   // prompt and the reply so far
	reply int       // tokens of it that are the reply
	p     []float64 // (vocab) of the next token
}

// open makes what is greedy sampled, for questions about how sure a model is.
func open(p sample.Params) sample.Params {
	if p.Temperature == 0 {
		return sample.Params{Temperature: 1, TopP: 1}
	}
	return p
}

// explore notes the places of the likeliest reply, and those of the same reply when it is asked for again.
func (t *trial) explore(ctx context.Context) ([]place, error) {
	places, reply, err := t.follow(ctx, t.Prompt, nil)
	if err != nil || t.Again == nil {
		return places, err
	}
	prompt, err := t.Again(reply)
	if err != nil || prompt == nil {
		return places, err
	}
	more, _, err := t.follow(ctx, prompt, reply)
	return append(places, more...), err
}

// follow notes the places behind a prompt: those of a reply, or of the likeliest one if there is none yet, which it returns.
func (t *trial) follow(ctx context.Context, prompt, reply []int32) (places []place, written []int32, err error) {
	for i := range explored {
		root := slices.Concat(prompt, written)
		row, err := t.readers.row(ctx, targetName, t.Target, root)
		if err != nil {
			return nil, nil, err
		}
		d, err := sample.FromLogits(make([]float64, len(row)), row, open(t.Params))
		if err != nil {
			return nil, nil, err
		}
		places = append(places, place{root, i, d.P})
		next, err := sample.Argmax(row)
		if err != nil {
			return nil, nil, err
		}
		if reply != nil {
			if i == len(reply) {
				break
			}
			next = reply[i]
		}
		if t.IsStop(next) {
			break
		}
		written = append(written, next)
	}
	return places, written, nil
}

func entropy(p []float64) float64 {
	bits := 0.0
	for _, x := range p {
		if x > 0 {
			bits -= x * math.Log2(x)
		}
	}
	return bits
}

// likeliest returns the ids of the n largest probabilities that are not 0, best first.
func likeliest(p []float64, n int) []int32 {
	var ids []int32
	for id, x := range p {
		if x == 0 || len(ids) == n && x <= p[ids[n-1]] {
			continue
		}
		at := 0
		for at < len(ids) && p[ids[at]] >= x {
			at++
		}
		ids = slices.Insert(ids, at, int32(id))
		ids = ids[:min(n, len(ids))]
	}
	return ids
}

// choose takes the place at which drafts of p decide most: what it guesses is neither sure to be kept nor sure to be refused.
// It returns nil and a reason when p guesses nowhere.
func (t *trial) choose(ctx context.Context, p Proposer) (*stage, string, error) {
	var best *stage
	most, why := -1.0, "it never had a guess"
	for i := range t.places {
		s := t.newStage(&t.places[i])
		worth, reason, err := t.taste(ctx, s, p)
		if err != nil {
			return nil, "", err
		}
		if worth > most {
			best, most = s, worth
		}
		if worth < 0 && reason != "" {
			why = "it never had a guess: " + reason
		}
	}
	return best, why, nil
}

// taste is the mean of p(x)·(1−p(x)) over first draft tokens x, and −1 when there are none.
func (t *trial) taste(ctx context.Context, s *stage, p Proposer) (worth float64, why string, err error) {
	proposer, err := t.newProposer(s, p, s.wrap)
	if err != nil {
		return 0, "", err
	}
	defer proposer.Close()
	if _, err := proposer.Begin(ctx, s.root, nil); err != nil {
		return 0, "", err
	}
	ask := spec.Ask{Gamma: 1, Params: open(t.Params), Uniforms: sample.NewPhilox(t.Seed, 0), IsStop: t.IsStop, Trust: t.Trust}
	for ask.Round = range tastes {
		draft, err := proposer.Propose(ctx, ask)
		if err != nil {
			return 0, "", err
		}
		if len(draft.Tokens) == 0 {
			return -1, draft.Stop, proposer.Committed(nil)
		}
		x := s.p[draft.Tokens[0]]
		worth += x * (1 - x) / tastes
		if err := proposer.Committed(nil); err != nil {
			return 0, "", err
		}
	}
	return worth, "", nil
}

// newProposer makes a proposer that computes nothing twice at a stage, if wrap is the stage's.
func (t *trial) newProposer(s *stage, p Proposer, wrap Wrap) (spec.Proposer, error) {
	proposer, err := p.New(wrap)
	if err != nil {
		return nil, fmt.Errorf("making the proposer: %w", err)
	}
	if r, ok := proposer.(interface{ Remember(*sample.Memo) }); ok {
		r.Remember(s.memo)
	}
	return proposer, nil
}

// describe says where a place is.
func (t *trial) describe(p *place) Place {
	reply := p.root[len(p.root)-p.reply:]
	var b strings.Builder
	for _, id := range reply[max(0, len(reply)-6):] {
		b.WriteString(t.Text(id))
	}
	return Place{ReplyTokens: len(reply), Behind: b.String(), EntropyBits: entropy(p.p), Again: len(p.root)-p.reply != len(t.Prompt)}
}
