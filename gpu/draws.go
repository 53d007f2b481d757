package gpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// drawing is what a sampled round needs on the device besides its tokens: the settings to draw by, and the
// distribution q of each draft token.
//
// All of it lies in device memory and is written by queued work. So rounds with equally many draft
// tokens replay the same graph, whatever their seeds, round numbers and values of filters. A round has
// another graph if top-k or top-p is turned on or off (cuts), if scores are edited or kept, or if the
// draft has no q. Distributions are not normalised: a row of weights w stands for w / Σw. See
// kernels/cuda/src/softmax.cu.
type drawing struct {
	by       compute.Sampling
	memory   driver.Pointer // a probability of 4 bytes for each token, and the settings
	settings driver.Pointer // filters of the target, filters of the draft, the round
	q        weighing       // distributions of the draft tokens: n−1 rows
	kept     driver.Pointer // (keptRows, q.vocab) float32: draft scores for the screen; 0: not reserved yet
	keptRows int
}

// The sizes of Filters and Round, in words of 4 bytes. See kernels/cuda/src/filters.h and draw.h.
const (
	filterWords = 5
	roundWords  = 7
)

// chance returns the address of the probability of draft token at.
func (d *drawing) chance(at int) driver.Pointer { return d.memory + driver.Pointer(4*at) }

func (d *drawing) targetFilters() driver.Pointer { return d.settings }
func (d *drawing) draftFilters() driver.Pointer  { return d.settings + 4*filterWords }
func (d *drawing) round() driver.Pointer         { return d.settings + 4*2*filterWords }

// weighing is device memory for unnormalised distributions. A row has a weight for each token, and a sum
// for each slice of sliceTokens tokens: of their masses, which are the weights as integers.
type weighing struct {
	weights driver.Pointer // (rows, vocab) float32
	sums    driver.Pointer // (rows, slices) uint64, see kernels/cuda/src/mass.h
	vocab   int
}

func (w *weighing) row(i int) (weights, sums driver.Pointer) {
	return w.weights + driver.Pointer(4*i*w.vocab), w.sums + driver.Pointer(8*i*slicesOf(w.vocab))
}

// weighingBytes is the memory of a weighing with rows rows.
func weighingBytes(rows, vocab int) int64 {
	return int64(rows) * (4*int64(vocab) + 8*int64(slicesOf(vocab)))
}

// open reserves memory for rows of vocab numbers, unless w has rows of this width already. For one w
// the number of rows is always the same. The sums come first: they need the stricter alignment.
func (w *weighing) open(b *Backend, what string, rows, vocab int) error {
	if w.sums != 0 && w.vocab == vocab {
		return nil
	}
	if err := w.free(b); err != nil {
		return err
	}
	memory, err := b.alloc(fmt.Sprintf("distributions of %s, %d × %d numbers", what, rows, vocab),
		weighingBytes(rows, vocab))
	if err != nil {
		return err
	}
	*w = weighing{weights: memory + driver.Pointer(8*rows*slicesOf(vocab)), sums: memory, vocab: vocab}
	return nil
}

func (w *weighing) free(b *Backend) error {
	memory := w.sums
	*w = weighing{}
	if memory == 0 {
		return nil
	}
	b.flush() // the tape may have steps that write to this memory
	return b.release(memory)
}

func (d *drawing) free(b *Backend) error {
	memory := d.memory
	d.memory = 0
	return first(d.q.free(b), b.release(memory), b.release(d.kept))
}

// Sample sets the settings of a round. It writes them as words to the tape and appends a step that copies
// them to d.settings. The first call reserves that memory.
func (t *tokens) Sample(s compute.Sampling) error {
	b, d := t.owner, &t.drawing
	require(0 <= s.Drafts && s.Drafts < t.n && s.Drafts <= compute.MostDrafts,
		"Sample of more draft tokens than there is room for")
	if err := b.usable(); err != nil {
		return err
	}
	if d.memory == 0 {
		memory, err := b.alloc(fmt.Sprintf("draws of %d tokens", t.n),
			int64(4*t.n+4*(2*filterWords+roundWords)))
		if err != nil {
			return err
		}
		d.memory, d.settings = memory, memory+driver.Pointer(4*t.n)
	}
	d.by = s
	words := append(filterWordsOf(s.Target), filterWordsOf(s.Draft)...)
	certain := uint32(0)
	if s.Certain {
		certain = math.MaxUint32
	}
	for _, w := range []uint32{uint32(s.Seed), uint32(s.Seed >> 32), s.Reply, s.Round, certain,
		uint32(s.Drafts), uint32(s.Written)} {
		words = append(words, int32(w))
	}
	b.tape.append(move{d.settings, b.word(b.tape.word(words...)), 4 * len(words)})
	return nil
}

// leastTemperature is the lowest temperature that the device computes with; it replaces lower ones.
// This changes no text: already at far higher temperatures only tokens with the best score have any
// probability left.
const leastTemperature = 1e-30

// filterWordsOf encodes filters as the kernels read them. If the temperature is applied last and
// another filter is on, the filters look at the softmax at temperature 1.
func filterWordsOf(f compute.Filters) []int32 {
	temperature := max(float32(f.Temperature), leastTemperature)
	seen := temperature
	if f.TemperatureLast && (f.TopK > 0 || f.TopP < 1 || f.MinP > 0) {
		seen = 1
	}
	var words []int32
	for _, v := range []float32{temperature, seen, float32(f.TopP), float32(f.MinP)} {
		words = append(words, int32(math.Float32bits(v)))
	}
	return append(words, int32(f.TopK))
}

// cuts reports whether top-k or top-p is on.
func cuts(f compute.Filters) bool { return f.TopK > 0 || f.TopP < 1 }

// weigh appends the operations that turn scores into weights, for the first m rows and the first
// vocab ids of each. The weights may take the place of the scores. f are the filters; their words lie at filters. If vocab is less than the width
// of a row, m must be 1.
func (l *logits) weigh(scores driver.Pointer, m int, f compute.Filters, filters, weights, sums driver.Pointer, vocab int) error {
	b := l.owner
	require(0 < vocab && (vocab == l.x.cols || vocab < l.x.cols && m == 1),
		"distributions over more ids than have scores")
	rows := scoreRows{scores, l.peaks, filters, m, vocab}
	b.tape.append(findPeaks{rows.scores, rows.peaks, m, vocab})
	cutsAt := driver.Pointer(0)
	if cuts(f) {
		if err := l.openCuts(); err != nil {
			return err
		}
		cutsAt = l.cuts
		bins := fillBins{rows, cutsAt + driver.Pointer(8*l.x.rows)}
		b.tape.append(bins, cut{bins, cutsAt})
	}
	b.tape.append(weigh{rows, cutsAt, weights, sums})
	return nil
}

// cutBytes is the memory of cuts with rows rows.
func cutBytes(rows int) int64 { return int64(rows) * (8 + cuda.CutBytes) }

// openCuts reserves memory for cuts and for what finds them, once per buffer. What finds them must be 0
// before a round. The kernels leave it 0, but work that failed may not have: so openCuts clears all of the
// memory after every failure.
func (l *logits) openCuts() (err error) {
	b, bytes := l.owner, cutBytes(l.x.rows)
	if l.cuts != 0 && l.cleared == b.failures {
		return nil
	}
	if l.cuts == 0 {
		if l.cuts, err = b.alloc("cuts of distributions", bytes); err != nil {
			return err
		}
		l.cleared = -1
	}
	err = b.note(b.device.Do(func() error { return b.device.Fill(b.stream, l.cuts, 0, bytes) }))
	if err == nil {
		l.cleared = b.failures
	}
	return err
}

// Draw appends to the tape the draw of draft token at, counted from 1. The token's distribution stays
// on the device, because the verdict needs it as q.
func (b *Backend) Draw(x compute.Buffer, tt compute.Tokens, at int) error {
	t, xb := tt.(*tokens), rowsOf(x, 0, 1)
	if err := xb.logits.open(b, xb); err != nil {
		return err
	}
	return xb.logits.draw(t, at, xb.memory, t.fed(at), t.drawing.chance(at))
}

// draw appends to the tape the draw of draft token at, counted from 1, from the first row of scores. fed gets the
// token, 0 if none can be drawn, and chance its probability.
func (l *logits) draw(t *tokens, at int, scores, fed, chance driver.Pointer) error {
	b, d := l.owner, &t.drawing
	require(d.memory != 0 && 1 <= at && at <= d.by.Drafts, "a draw of a token that Sample did not speak of")
	vocab := min(d.by.Vocab, l.x.cols)
	if err := d.q.open(b, "drafts", t.n-1, vocab); err != nil {
		return err
	}
	if at <= d.by.Keep {
		if err := d.keep(b, at-1, scores, vocab); err != nil {
			return err
		}
	}
	weights, sums := d.q.row(at - 1)
	if err := l.weigh(scores, 1, d.by.Draft, d.draftFilters(), weights, sums, vocab); err != nil {
		return err
	}
	b.tape.append(draw{weights, sums, d.round(), at - 1, t.chosen(at), fed, chance, vocab})
	return nil
}

// keep appends to the tape a copy of the scores that draft token i, counted from 0, was drawn from. At
// i = 0 it reserves memory for the whole draft, unless there is enough.
func (d *drawing) keep(b *Backend, i int, row driver.Pointer, vocab int) (err error) {
	if i == 0 && d.keptRows < d.by.Keep {
		b.flush() // the tape may have steps that write to this memory
		if err := b.release(d.kept); err != nil {
			return err
		}
		d.kept, d.keptRows = 0, 0
		if d.kept, err = b.alloc("scores to look at", 4*int64(d.by.Keep)*int64(vocab)); err != nil {
			return err
		}
		d.keptRows = d.by.Keep
	}
	b.tape.append(move{d.kept + driver.Pointer(4*i*vocab), row, 4 * vocab})
	return nil
}

// Kept copies to the host the scores of the draft that Draw kept for the screen.
func (t *tokens) Kept(dst []float32) (bytes int64, err error) {
	b, d := t.owner, &t.drawing
	require(d.kept != 0 && len(dst) <= d.by.Keep*d.q.vocab && len(dst)%d.q.vocab == 0,
		"Kept of a round that kept fewer rows, or to another width")
	err = b.onDevice(func() error {
		return b.fetch(4*len(dst), d.kept, func(memory []byte) { toFloats(dst, memory) })
	})
	if err != nil {
		return 0, fmt.Errorf("reading the scores of a draft: %w", err)
	}
	return 4 * int64(len(dst)), nil
}

// AcceptDrawn runs the stochastic verification on the device: it finds out which draft tokens stay, and
// draws the token that follows.
func (l *logits) AcceptDrawn(tt compute.Tokens) (compute.Drawn, error) {
	b, t := l.owner, tt.(*tokens)
	d := &t.drawing
	n := d.by.Drafts
	require(d.memory != 0 && n+1 == l.rows && l.x.cols < noToken, "AcceptDrawn of another number of rows")
	q := d.q
	words := make([]uint64, n+1)
	bounds := make([]float32, (d.resultBytes(n)-8*len(words))/4)
	ranking := l.takeRanking(t, d.resultBytes(n), 0)
	scores, restores, err := l.edit(t)
	if err == nil {
		err = l.p.open(b, "rows", l.x.rows, l.x.cols)
	}
	if err == nil {
		err = l.weigh(scores, l.rows, d.by.Target, d.targetFilters(), l.p.weights, l.p.sums, l.x.cols)
	}
	if n == 0 || d.by.Certain {
		q = l.p // a valid address; the kernels do not read it
	}
	require(q.sums != 0 || err != nil, "AcceptDrawn of a draft that was not drawn")
	if err == nil {
		b.tape.append(d.judgement(reject{l.p, q, t.chosen(1), d.round(), l.rest, b.arrived, t.verdict(), n}))
	}
	b.tape.append(restores...) // after an error, too: the edits are on the tape already
	var passMS float64
	if err == nil {
		b.tape.append(ranking.operations(scores, restores)...)
		passMS, err = l.judge(t, nil, ranking.end, func(memory []byte) {
			for i := range words {
				words[i] = binary.LittleEndian.Uint64(memory[8*i:])
			}
			toFloats(bounds, memory[8*len(words):])
			ranking.arrive(memory)
		})
	}
	if err != nil {
		return compute.Drawn{}, fmt.Errorf("judging a draft: %w", err)
	}
	accepted, follows, p, judged := cuda.Rejection(words, n)
	v := compute.Drawn{P: float64(p),
		Verdict: compute.Verdict{Accepted: accepted, Follows: follows, PassMS: passMS, Ranked: ranking.told(accepted)}}
	for _, j := range judged {
		v.Draft = append(v.Draft, compute.Chance{ID: j.ID, P: float64(j.P), Q: float64(j.Q)})
	}
	for i, bound := range bounds {
		v.Draft[i].Bound = float64(bound)
	}
	return v, nil
}
