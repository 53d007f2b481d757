// Package agreement measures how well a draft model agrees with its target: α, the probability that a drafted token is accepted.
//
// At a place of a text the target would draw its next token from p and the draft from q, and speculative sampling accepts with
// probability Σ min(p, q), one minus their total variation distance. The mean of it over the tokens of an assistant's replies is
// α of that text. Both models read the text as it stands (they are teacher-forced): what they would have written themselves has no
// part in it, so that different pairs are compared at the same places. At temperature 0 the sum is 1 where both models' best tokens
// are the same and 0 elsewhere.
//
// A text that the models were trained on shows too high an α. So does one whose questions also stood in training with other answers.
package agreement

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Model is what a text is read with.
type Model interface {
	NewCache() (compute.Cache, error)
	// Forward appends tokens to the cache and returns the scores behind each of them.
	Forward(ctx context.Context, cache compute.Cache, ids []int32) (compute.Logits, error)
}

// Dialogue is one text in tokens.
type Dialogue struct {
	Source string // may be empty
	Tokens []int32
	Judged []bool // (len(Tokens)): whether the models' chances of this token's place count; never those of the first
}

// Pair is what is compared.
type Pair struct {
	Target, Draft Model
	Vocab         int // ids that both know; scores of padding behind them are left out
	Rows          int // of one pass, at most
}

// Agreement is α at one temperature.
type Agreement struct {
	Temperature float64 `json:"temperature"`
	Alpha       float64 `json:"alpha"`
	// StandardError is that of Alpha if the dialogues are a random choice; the tokens of one dialogue are not independent.
	StandardError float64 `json:"standardError"`
}

// Report is what Measure found.
type Report struct {
	Part
	Cut     int    `json:"cut"`               // dialogues that did not fit into the context and were read up to its end
	Sources []Part `json:"sources,omitempty"` // by name, when there are several: α differs more between kinds of text than between pairs
}

// Part is the agreement on some of the dialogues, or on all.
type Part struct {
	Source    string      `json:"source,omitempty"`
	Dialogues int         `json:"dialogues"` // with at least one token judged
	Tokens    int         `json:"tokens"`    // judged
	At        []Agreement `json:"at"`
}

// Measure reads the dialogues with both models. progress, which may be nil, gets dialogues done.
func Measure(ctx context.Context, pair Pair, dialogues []Dialogue, temperatures []float64, progress func(done, total int)) (*Report, error) {
	m := &measurement{Pair: pair, temperatures: temperatures}
	var err error
	if m.target, err = newReader(pair.Target, pair.Vocab); err != nil {
		return nil, fmt.Errorf("making the target's cache: %w", err)
	}
	defer m.target.cache.Close()
	if m.draft, err = newReader(pair.Draft, pair.Vocab); err != nil {
		return nil, fmt.Errorf("making the draft's cache: %w", err)
	}
	defer m.draft.cache.Close()
	for i, d := range dialogues {
		if err := m.add(ctx, d); err != nil {
			return nil, fmt.Errorf("reading dialogue %d of %d: %w", i+1, len(dialogues), err)
		}
		if progress != nil {
			progress(i+1, len(dialogues))
		}
	}
	if len(m.tallies) == 0 {
		return nil, errors.New("no token of the dialogues is an assistant's")
	}
	return m.report(), nil
}

type measurement struct {
	Pair
	target, draft *reader
	temperatures  []float64
	tallies       []tally // of dialogues with judged tokens
	cut           int
}

// tally is what one dialogue adds.
type tally struct {
	source string
	tokens int
	sums   []float64 // (temperatures): Σ over judged tokens
}

// add reads one dialogue.
func (m *measurement) add(ctx context.Context, d Dialogue) error {
	tokens := d.Tokens
	if room := min(m.target.cache.Cap(), m.draft.cache.Cap()); len(tokens) > room {
		tokens = tokens[:room]
		m.cut++
	}
	if err := errors.Join(m.target.cache.Truncate(0), m.draft.cache.Truncate(0)); err != nil {
		return err
	}
	sum := tally{source: d.Source, sums: make([]float64, len(m.temperatures))}
	for from := 0; from < len(tokens); from += m.Rows {
		chunk := tokens[from:min(from+m.Rows, len(tokens))]
		if err := errors.Join(m.target.read(ctx, chunk), m.draft.read(ctx, chunk)); err != nil {
			return err
		}
		for i := range chunk {
			if next := from + i + 1; next >= len(tokens) || !d.Judged[next] {
				continue
			}
			sum.tokens++
			if err := m.compare(i, sum.sums); err != nil {
				return err
			}
		}
	}
	if sum.tokens > 0 {
		m.tallies = append(m.tallies, sum)
	}
	return nil
}

// report sums up, and by source where there are several.
func (m *measurement) report() *Report {
	r := &Report{Part: m.part(m.tallies), Cut: m.cut}
	bySource := map[string][]tally{}
	for _, t := range m.tallies {
		bySource[t.source] = append(bySource[t.source], t)
	}
	if len(bySource) > 1 {
		for _, source := range slices.Sorted(maps.Keys(bySource)) {
			part := m.part(bySource[source])
			part.Source = source
			r.Sources = append(r.Sources, part)
		}
	}
	return r
}

func (m *measurement) part(tallies []tally) Part {
	p := Part{Dialogues: len(tallies)}
	for _, t := range tallies {
		p.Tokens += t.tokens
	}
	for i, temperature := range m.temperatures {
		alpha, standardError := ratio(tallies, i)
		p.At = append(p.At, Agreement{Temperature: temperature, Alpha: alpha, StandardError: standardError})
	}
	return p
}

// compare adds Σ min(p, q) behind row i of the pass that was just made, for every temperature.
func (m *measurement) compare(i int, sums []float64) error {
	if err := errors.Join(m.target.fetch(i), m.draft.fetch(i)); err != nil {
		return err
	}
	for k, t := range m.temperatures {
		p, err := m.target.at(t)
		if err != nil {
			return fmt.Errorf("the target's scores: %w", err)
		}
		q, err := m.draft.at(t)
		if err != nil {
			return fmt.Errorf("the draft's scores: %w", err)
		}
		sums[k] += Overlap(p, q)
	}
	return nil
}

// Overlap is Σ min(p, q): the probability that a token drawn from q is accepted for p. Both have the same form, one-hot or not.
func Overlap(p, q sample.Dist) float64 {
	if p.P == nil {
		return q.Prob(p.Hot)
	}
	sum := 0.0
	for id, x := range p.P {
		sum += min(x, q.P[id])
	}
	return sum
}

// reader is a model with a cache and room for one row.
type reader struct {
	model   Model
	cache   compute.Cache
	sampler sample.Sampler
	logits  compute.Logits
	row     []float32 // as wide as the model's scores
	vocab   int
	probs   []float64 // (vocab)
}

func newReader(m Model, vocab int) (*reader, error) {
	cache, err := m.NewCache()
	return &reader{model: m, cache: cache, vocab: vocab, probs: make([]float64, vocab)}, err
}

func (r *reader) read(ctx context.Context, ids []int32) (err error) {
	r.logits, err = r.model.Forward(ctx, r.cache, ids)
	return err
}

func (r *reader) fetch(i int) error {
	if n := r.logits.Vocab(); len(r.row) != n {
		if n < r.vocab {
			return fmt.Errorf("a model has %d scores for a vocabulary of %d", n, r.vocab)
		}
		r.row = make([]float32, n)
	}
	r.sampler.Use(r.logits)
	return r.logits.Row(i, r.row)
}

// at is the distribution of the fetched row, valid until the next call.
func (r *reader) at(temperature float64) (sample.Dist, error) {
	return r.sampler.FromLogits(r.probs, r.row[:r.vocab], sample.Params{Temperature: temperature, TopP: 1})
}

// ratio is the mean over judged tokens at one temperature, with the standard error of such a ratio over dialogues; 0 when there is
// only one.
func ratio(tallies []tally, temperature int) (mean, standardError float64) {
	total, n := 0.0, 0.0
	for _, t := range tallies {
		total += t.sums[temperature]
		n += float64(t.tokens)
	}
	mean = total / n
	k := float64(len(tallies))
	if k < 2 {
		return mean, 0
	}
	spread := 0.0
	for _, t := range tallies {
		off := t.sums[temperature] - mean*float64(t.tokens)
		spread += off * off
	}
	return mean, math.Sqrt(spread*k/(k-1)) / n
}
