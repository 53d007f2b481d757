// Package agreement measures α, the probability that the target accepts a drafted token.
//
// [Measure] reads a [Dialogue] with both models of a [Pair] and returns a [Report]. At each
// position of an assistant's reply the target has a distribution p for the next token and the
// draft a distribution q. Speculative sampling accepts with probability Σ min(p, q), which is one
// minus the total variation distance of p and q ([Overlap]). α of a text is the mean of this probability
// over the tokens of the assistant's replies. At temperature 0 the sum is 1 where the best tokens of both
// models are the same, and 0 elsewhere.
//
// Invariant: both models read the given text (teacher forcing), not what they would have written. So
// all pairs are compared at the same positions.
//
// A text that the models were trained on gives too high an α. So does a text whose questions were in
// the training data with other answers.
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

// Model is a model that reads a text.
type Model interface {
	NewCache() (compute.Cache, error)
	// Forward appends tokens to the cache and returns the scores after each of them.
	Forward(ctx context.Context, cache compute.Cache, ids []int32) (compute.Logits, error)
}

// Dialogue is one text in tokens.
type Dialogue struct {
	Source string // the kind of text, such as the name of a data set, for Report.Sources; may be empty
	Tokens []int32
	// Judged, of the length of Tokens, marks the tokens whose probabilities count. The first token
	// never counts.
	Judged []bool
}

// Pair are the two models that are compared.
type Pair struct {
	Target, Draft Model
	Vocab         int // ids that both models know; scores of padding after them are ignored
	Rows          int // largest number of rows of a pass
}

// Agreement is α at one temperature.
type Agreement struct {
	Temperature float64 `json:"temperature"`
	Alpha       float64 `json:"alpha"`
	// StandardError is the standard error of Alpha if the dialogues are a random sample; 0 if there is only
	// one. It is computed over dialogues, because the tokens of one dialogue are not independent.
	StandardError float64 `json:"standardError"`
}

// Report is the result of Measure.
type Report struct {
	Part
	Cut int `json:"cut"` // number of dialogues longer than the context; only their beginning was read
	// Sources has a part for each source, sorted by name, if there are several. α depends much on the kind
	// of text.
	Sources []Part `json:"sources,omitempty"`
}

// Part is the agreement on some of the dialogues, or on all.
type Part struct {
	Source    string      `json:"source,omitempty"`
	Dialogues int         `json:"dialogues"` // number of dialogues with at least one judged token
	Tokens    int         `json:"tokens"`    // judged tokens
	At        []Agreement `json:"at"`
}

// Measure reads the dialogues with both models. progress may be nil; it gets the number of dialogues done.
// Measure returns an error if no token of the dialogues is judged.
func Measure(ctx context.Context, pair Pair, dialogues []Dialogue, temperatures []float64, progress func(done, total int)) (*Report, error) {
	m := &measurement{Pair: pair, temperatures: temperatures}
	var err error
	if m.target, err = newReader(pair.Target, pair.Vocab); err != nil {
		return nil, fmt.Errorf("making the target's cache: %w", err)
	}
	defer m.target.cache.Close()
	if m.draft, err = newReader(pair.Draft, pair.Vocab); err != nil {
		return nil, fmt.Errorf("making the draft model's cache: %w", err)
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
	tallies       []tally // one for each dialogue with judged tokens
	cut           int
}

// tally is what one dialogue contributes.
type tally struct {
	source string
	tokens int       // judged tokens
	sums   []float64 // per temperature: the sum of Σ min(p, q) over judged tokens
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

// report sums up over all dialogues and, if there are several sources, per source.
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

// compare adds to sums, for every temperature, Σ min(p, q) of the distributions in row i of the last pass.
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

// Overlap is Σ min(p, q): the probability that a token drawn from q is accepted under p. Either both p and
// q are one-hot, or neither is.
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

// reader is a model with a cache, and with memory for one row of scores.
type reader struct {
	model   Model
	cache   compute.Cache
	sampler sample.Sampler
	logits  compute.Logits
	row     []float32 // one row of the model's scores, padding included
	vocab   int
	probs   []float64 // probabilities of the first vocab tokens of row
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

// at returns the distribution of the row that fetch has copied last. It is valid until the next call.
func (r *reader) at(temperature float64) (sample.Dist, error) {
	return r.sampler.FromLogits(r.probs, r.row[:r.vocab], sample.Params{Temperature: temperature, TopP: 1})
}

// ratio returns α, the mean of Σ min(p, q) over the judged tokens, at one temperature; temperature is its
// index in sums. It also returns the standard error of α over dialogues, which is 0 if there is only one
// dialogue.
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
