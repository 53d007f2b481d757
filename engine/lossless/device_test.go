package lossless_test

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"specula/engine/compute"
	"specula/engine/oracle"
	"specula/engine/sample"
	"specula/kernels/ref"
)

// timed is a backend whose clock follows a price list, so that runs repeat: controllers choose
// draft lengths by the clock.
type timed struct {
	compute.Backend
	now    time.Time
	target compute.Matrix // the embedding of the target
}

// read advances the clock by the time of a pass over m rows.
func (b *timed) read(embedding compute.Matrix, m int) {
	if b.target == nil {
		b.target = embedding // the first pass is the target's
	}
	price := 150*time.Microsecond + time.Duration(m)*10*time.Microsecond
	if embedding == b.target {
		price = time.Millisecond + time.Duration(m)*50*time.Microsecond
	}
	b.now = b.now.Add(price)
}

func (b *timed) Embed(dst compute.Buffer, embedding compute.Matrix, ids []int32) error {
	b.read(embedding, len(ids))
	return b.Backend.Embed(dst, embedding, ids)
}

// device is a backend that samples and judges by itself, as package compute describes it and as
// plainly as possible: the test is about the engine that gives it the rounds.
type device struct{ timed }

// drafted are tokens on the device.
type drafted struct {
	on   *device
	mark time.Time
	ids  []int32
	by   compute.Sampling
	q    [][]float64 // the distributions that the tokens after the first were drawn from
	kept []float32
	edit *compute.Edits // of the rows that are judged next; nil: none
	rank int            // best tokens to tell of each row that is judged next
}

func (d *device) Tokens(n int) (compute.Tokens, error) {
	return &drafted{on: d, ids: make([]int32, n)}, nil
}

func (t *drafted) Put(at int, ids ...int32) error    { copy(t.ids[at:], ids); return nil }
func (t *drafted) Sample(s compute.Sampling) error   { t.by = s; return nil }
func (t *drafted) Edit(e *compute.Edits) error       { t.edit = e; return nil }
func (t *drafted) Rank(n int) error                  { t.rank = n; return nil }
func (t *drafted) Mark() error                       { t.mark = t.on.now; return nil }
func (t *drafted) Get(at int, dst []int32) error     { copy(dst, t.ids[at:]); return nil }
func (t *drafted) Kept(dst []float32) (int64, error) { return int64(4 * copy(dst, t.kept)), nil }
func (t *drafted) Close() error                      { return nil }
func (t *drafted) uniform(s sample.Stream, i int) float64 {
	return sample.NewPhilox(t.by.Seed, int(t.by.Reply)).Uniform(s, int(t.by.Round), i)
}

func (d *device) EmbedTokens(dst compute.Buffer, embedding compute.Matrix, t compute.Tokens, at, m int) error {
	ids := slices.Clone(t.(*drafted).ids[at : at+m])
	for i := range ids {
		ids[i] = max(0, ids[i]) // a missing token is −1: read any other one in its place
	}
	return d.Embed(dst, embedding, ids)
}

// first returns row 0 of x, nil if it is not finite.
func (d *device) first(x compute.Buffer) ([]float32, error) {
	logits, err := d.Backend.Logits(x, 1)
	if err != nil {
		return nil, err
	}
	return row(logits, 0)
}

func row(logits compute.Logits, i int) ([]float32, error) {
	scores := make([]float32, logits.Vocab())
	if err := logits.Row(i, scores); err != nil {
		return nil, err
	}
	for _, x := range scores {
		if x != x || math.IsInf(float64(x), 1) {
			return nil, nil
		}
	}
	return scores, nil
}

func (d *device) Choose(x compute.Buffer, t compute.Tokens, at int) error {
	scores, err := d.first(x)
	t.(*drafted).choose(scores, at)
	return err
}

func (t *drafted) choose(scores []float32, at int) {
	if t.ids[at] = -1; scores != nil {
		t.ids[at] = best(scores)
	}
}

func best(scores []float32) int32 { return int32(slices.Index(scores, slices.Max(scores))) }

func (d *device) Draw(x compute.Buffer, t compute.Tokens, at int) error {
	scores, err := d.first(x)
	t.(*drafted).draw(scores, at)
	return err
}

func (t *drafted) draw(scores []float32, at int) {
	t.q = t.q[:at-1]
	if scores == nil {
		t.ids[at], t.q = -1, append(t.q, nil)
		return
	}
	if at == 1 {
		t.kept = nil
	}
	if at <= t.by.Keep {
		t.kept = append(t.kept, scores[:t.by.Vocab]...)
	}
	q := oracle.Distribution(scores[:t.by.Vocab], filters(t.by.Draft))
	t.ids[at], t.q = pick(q, t.uniform(sample.DraftDraw, at-1)), append(t.q, q)
}

// Pick implements compute.Picker.
func (l *judging) Pick(tokens compute.Tokens, at int, draw bool) (compute.Chance, error) {
	t := tokens.(*drafted)
	scores, err := l.edited(t, 0)
	t.edit = nil
	if !draw {
		t.choose(scores, at)
		return compute.Chance{ID: t.ids[at]}, err
	}
	if t.draw(scores, at); scores == nil {
		return compute.Chance{ID: -1}, err
	}
	return compute.Chance{ID: t.ids[at], Q: t.q[at-1][t.ids[at]]}, err
}

func filters(f compute.Filters) sample.Params {
	return sample.Params{Temperature: f.Temperature, TopK: f.TopK, TopP: f.TopP, MinP: f.MinP, TemperatureLast: f.TemperatureLast}
}

// pick returns the token that u falls on.
func pick(p []float64, u float64) int32 {
	sum := 0.0
	for _, x := range p {
		sum += x
	}
	last := int32(0)
	for id, x := range p {
		if x > 0 {
			last = int32(id)
			if u -= x / sum; u < 0 {
				break
			}
		}
	}
	return last
}

func (d *device) Logits(x compute.Buffer, m int) (compute.Logits, error) {
	logits, err := d.Backend.Logits(x, m)
	return &judging{Logits: logits, Arithmetic: logits.(compute.Arithmetic)}, err
}

// judging is a pass that can be judged on the device.
type judging struct {
	compute.Logits
	compute.Arithmetic
	guided [][]float32 // the rows under guidance; nil: there is none
}

func (l *judging) Guide(scale float32) error {
	n := l.Rows() / 2
	guided := make([][]float32, n)
	for i := range guided {
		guided[i] = make([]float32, l.Vocab())
		without := make([]float32, l.Vocab())
		if err := errors.Join(l.Row(i, guided[i]), l.Row(n+i, without)); err != nil {
			return err
		}
		for id, z := range guided[i] {
			guided[i][id] = ref.GuideScore(z, without[id], scale)
		}
	}
	l.guided = guided
	return nil
}

func (l *judging) Rows() int {
	if l.guided != nil {
		return len(l.guided)
	}
	return l.Logits.Rows()
}

func (l *judging) Row(i int, dst []float32) error {
	if l.guided != nil {
		copy(dst, l.guided[i])
		return nil
	}
	return l.Logits.Row(i, dst)
}

func (l *judging) Argmax(dst []int32) error {
	if l.guided == nil {
		return l.Logits.Argmax(dst)
	}
	for i := range dst {
		dst[i] = best(l.guided[i])
	}
	return nil
}

// passMS returns the time of a pass over a draft that was made on the device, 0 for another pass.
func (t *drafted) passMS() float64 {
	if t.mark.IsZero() {
		return 0
	}
	return float64(t.on.now.Sub(t.mark)) / float64(time.Millisecond)
}

// edited returns row i as the device judges it, nil if it has no best token.
func (l *judging) edited(t *drafted, i int) ([]float32, error) {
	scores, err := row(l, i)
	if scores == nil || t.edit == nil {
		return scores, err
	}
	counts, edits := map[int32]int{}, map[int32]compute.Edit{}
	for _, e := range t.edit.Tokens {
		counts[e.ID], edits[e.ID] = int(e.Count), e
	}
	for j, id := range t.ids[1 : 1+i] {
		counts[id]++
		counts[t.edit.Leaving[j]]--
	}
	for id := range scores {
		z, e, count := &scores[id], edits[int32(id)], counts[int32(id)]
		if masked := math.IsInf(float64(*z), -1); masked {
			continue
		}
		*z += e.Bias
		if count > 0 && t.edit.Repeat > 0 {
			if *z > 0 {
				*z /= t.edit.Repeat
			} else {
				*z *= t.edit.Repeat
			}
			*z = float32(*z-float32(float32(count)*t.edit.Frequency)) - t.edit.Presence
		}
		if i < int(e.Banned) {
			*z = float32(math.Inf(-1))
		}
	}
	if words := compute.MaskWords(len(scores)); t.edit.Allowed != nil {
		ref.MaskRow(scores, t.edit.Allowed[i*words:][:words])
	}
	if math.IsInf(float64(slices.Max(scores)), -1) {
		return nil, nil
	}
	return scores, nil
}

// ranked tells of the rows that a verdict has used what log-probabilities need.
func (l *judging) ranked(t *drafted, v compute.Verdict) (list []compute.Ranked, err error) {
	if t.rank == 0 {
		return nil, nil
	}
	for i := range v.Accepted + 1 {
		own := v.Follows
		if i < v.Accepted {
			own = t.ids[1+i]
		}
		scores, err := row(l, i)
		if err != nil {
			return nil, err
		}
		var r compute.Ranked
		if scores != nil && own >= 0 {
			r.Own = compute.Scored{ID: own, Score: scores[own]}
			for id, score := range scores {
				r.Top = append(r.Top, compute.Scored{ID: int32(id), Score: score})
			}
			slices.SortStableFunc(r.Top, func(a, b compute.Scored) int { return cmp.Compare(b.Score, a.Score) })
			for _, score := range scores {
				r.Sum += math.Exp(float64(score - r.Top[0].Score))
			}
			r.Top = r.Top[:min(t.rank, len(r.Top))]
		}
		list = append(list, r)
	}
	return list, nil
}

func (l *judging) AcceptBest(tokens compute.Tokens, drafts []int32) (v compute.Verdict, err error) {
	defer func() {
		t := tokens.(*drafted)
		if err == nil {
			v.Ranked, err = l.ranked(t, v)
		}
		t.edit, t.rank = nil, 0
	}()
	v.PassMS = tokens.(*drafted).passMS()
	copy(drafts, tokens.(*drafted).ids[1:])
	for i := 0; ; i++ {
		scores, err := l.edited(tokens.(*drafted), i)
		if scores == nil {
			v.Follows = -1
			return v, err
		}
		if v.Follows = best(scores); i == len(drafts) || drafts[i] != v.Follows {
			return v, nil
		}
		v.Accepted++
	}
}

func (l *judging) AcceptDrawn(tokens compute.Tokens) (v compute.Drawn, err error) {
	t := tokens.(*drafted)
	defer func() {
		if err == nil {
			v.Ranked, err = l.ranked(t, v.Verdict)
		}
		t.edit, t.rank = nil, 0
	}()
	v.PassMS = t.passMS()
	for i := range t.by.Drafts {
		chance := compute.Chance{ID: t.ids[1+i]}
		switch {
		case t.by.Certain:
			chance.Q = 1
		case chance.ID >= 0:
			chance.Q = t.q[i][chance.ID]
		}
		v.Draft = append(v.Draft, chance)
	}
	return v, judgements[t.by.Judgement](l, t, &v)
}

// judgeEach is compute.EachToken.
func (l *judging) judgeEach(t *drafted, v *compute.Drawn) error {
	for i := 0; ; i++ {
		scores, err := l.edited(t, i)
		if scores == nil {
			v.Follows = -1
			return err
		}
		p := oracle.Distribution(scores, filters(t.by.Target))
		if i == t.by.Drafts || t.missing(i) {
			v.Follows = pick(p, t.uniform(sample.BonusDraw, i))
			v.P = p[v.Follows]
			return nil
		}
		id, q := t.ids[1+i], t.distribution(i, len(p))
		v.Draft[i].P = p[id]
		if t.uniform(sample.AcceptTest, i)*q[id] >= p[id] {
			rest := make([]float64, len(p))
			for y := range p {
				rest[y] = max(0, p[y]-q[y])
			}
			v.Follows = pick(rest, t.uniform(sample.ResidualDraw, i))
			v.P = p[v.Follows]
			return nil
		}
		v.Accepted++
	}
}
