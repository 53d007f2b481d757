package engine

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/constrain"
	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/oracle"
	"specula/engine/proof"
	"specula/engine/sample"
)

// This file computes the distributions that a proof compares replies with: from the finished reply, by
// passes without speculation and by the definition of each filter (package oracle).

// places computes a proof.Place for each token of a reply: the distribution that the token was chosen from
// and, if known, one that a draft token there may have been drawn from. It runs a pass of the models whenever
// the places of the last pass are used up. drafts are the drafts of the reply's rounds.
func (p *prover) places(ctx context.Context, r *proof.Reply, drafts []event.Drafted) iter.Seq2[proof.Place, error] {
	return func(yield func(proof.Place, error) bool) {
		ids := r.Ended.IDs
		var places []proof.Place // the places of the last pass that were not yielded yet
		var err error
		at := 0
		for i, round := range r.Rounds {
			for k := range round.Committed() {
				if at == len(ids) {
					return // the rounds have more tokens than the reply; the judge reports that
				}
				if len(places) == 0 {
					if places, err = p.pass(ctx, ids, at); err != nil {
						yield(proof.Place{}, err)
						return
					}
				}
				place := places[0]
				if q := proof.Certain(&drafts[i], &round, k, len(place.P)); q != nil {
					place.Q = q
				}
				if !yield(place, nil) {
					return
				}
				places = places[1:]
				at++
			}
		}
	}
}

// pass computes the places of the tokens ids, beginning at index at: as many as one pass of the target can have
// rows.
func (p *prover) pass(ctx context.Context, ids []int32, at int) ([]proof.Place, error) {
	to := min(at+config.MaxGamma+1, len(ids))
	scores, err := p.target.rows(ctx, p.prompt, ids, at, to)
	if err != nil {
		return nil, fmt.Errorf("computing a reply once more: %w", err)
	}
	if p.negative != nil {
		without, err := p.beside.rows(ctx, p.negative, ids, at, to)
		if err != nil {
			return nil, fmt.Errorf("computing a reply after the negative prompt: %w", err)
		}
		for i, row := range scores {
			guide(row, without[i], float32(p.config.Guidance.Scale))
		}
	}
	places := make([]proof.Place, len(scores))
	for i := range places {
		places[i].P = p.plain.Distribution(scores[i], p.prompt, ids[:at+i])
	}
	if p.plain.Params.Temperature == 0 || !p.drafts(ids) {
		return places, nil
	}
	opinions, err := p.draft.rows(ctx, p.prompt, ids, at, to)
	if err != nil {
		return nil, fmt.Errorf("computing what the draft model says: %w", err)
	}
	for i, row := range opinions {
		known := slices.Repeat([]float32{float32(math.Inf(-1))}, len(scores[i])) // the draft model's vocabulary may be shorter
		copy(known, row)
		places[i].Q = oracle.Distribution(known, sample.Params{Temperature: p.plain.Params.Temperature, TopP: 1})
	}
	return places, nil
}

// drafts reports whether the draft model's vocabulary and context can hold the reply.
func (p *prover) drafts(ids []int32) bool {
	if p.draft.model == nil {
		return false
	}
	c := p.draft.model.Config()
	stranger := func(id int32) bool { return int(id) >= c.Vocab }
	return len(p.prompt)+len(ids) <= c.MaxTokens && !slices.ContainsFunc(p.prompt, stranger) && !slices.ContainsFunc(ids, stranger)
}

// guide sets row to without + scale·(row − without), the definition of guidance. Each step rounds to
// float32. A token whose score is −Inf in either row keeps its score in row.
func guide(row, without []float32, scale float32) {
	masked := func(score float32) bool { return math.IsInf(float64(score), -1) }
	for id := range row {
		if !masked(row[id]) && !masked(without[id]) {
			row[id] = without[id] + float32(scale*(row[id]-without[id]))
		}
	}
}

// reader computes rows of scores with a cache of its own.
type reader struct {
	model  *model.Model
	cache  compute.Cache
	cached []int32
}

// rows returns, for each token of a reply with an index in from … to−1, the row of scores that this token is
// chosen from.
func (r *reader) rows(ctx context.Context, prompt, ids []int32, from, to int) (rows [][]float32, err error) {
	if r.cache == nil {
		if r.cache, err = r.model.NewCache(); err != nil {
			return nil, err
		}
	}
	all := slices.Concat(prompt, ids[:to-1])
	at := len(prompt) - 1 + from
	keep := compute.Reach(r.cache, min(commonPrefix(r.cached, all), at))
	if err := r.cache.Truncate(keep); err != nil {
		return nil, err
	}
	r.cached = append(r.cached[:0], all...)
	if keep < at {
		if _, err := r.model.Prefill(ctx, r.cache, all[keep:at], nil); err != nil {
			return nil, err
		}
	}
	logits, err := r.model.Forward(ctx, r.cache, all[at:])
	if err != nil {
		return nil, err
	}
	for i := range to - from {
		row := make([]float32, logits.Vocab())
		if err := logits.Row(i, row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// permitted makes oracle.Sampling's Form from a shaper that reads each reply from its start.
func permitted(form *constrain.Shaper, vocab int) func(reply []int32) func(id int32) bool {
	row := make([]float32, vocab)
	return func(reply []int32) func(id int32) bool {
		clear(row)
		err := form.Reset(nil)
		for _, id := range reply {
			form.Push(id)
		}
		if err == nil {
			err = form.Shape(row)
		}
		return func(id int32) bool { return err == nil && int(id) < vocab && row[id] == 0 }
	}
}
