package doctor

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"specula/engine/compute"
	"specula/engine/model"
)

const (
	costRuns  = 9    // passes for each number of rows; the shortest time counts, because disturbances only add time
	costShare = 0.15 // fraction of Options.Seconds in which v(m) is measured
	// A jump is reported if a row adds more than cliff times what the median row adds, and more than the
	// fraction minCliff of the pass without this row.
	cliff    = 3.0
	minCliff = 0.15
)

// costs measures v(m), the milliseconds of a target pass of m rows, and the cost of a draft step.
func (x *examination) costs(ctx context.Context) error {
	rows := min(x.GammaMax+1, x.Target.Config().MaxRows)
	target, err := x.warm(ctx, x.Target)
	if err != nil {
		return err
	}
	defer target.Close()
	x.report.VerifyMS = make([]float64, rows)
	touched := make([]compute.Touched, rows)
	until, before := x.left()-costShare, x.Target.ExpertsTouched()
	for run := 0; run < costRuns && (run == 0 || x.left() > until); run++ {
		for m := 1; m <= rows && m <= target.Cap()-target.Len(); m++ {
			ms, err := x.timed(ctx, x.Target, target, func(ids []int32) (compute.Logits, error) { return x.Target.Forward(ctx, target, ids) }, m)
			if err != nil {
				return err
			}
			if v := &x.report.VerifyMS[m-1]; *v == 0 || ms < *v {
				*v = ms
			}
			now := x.Target.ExpertsTouched()
			touched[m-1] = touched[m-1].Plus(now.Minus(before))
			before = now
		}
	}
	for _, t := range touched {
		if mean := t.Mean(); mean > 0 {
			x.report.ExpertsRead = append(x.report.ExpertsRead, mean)
		}
	}
	x.tellCurve()
	return x.draftCost(ctx)
}

// warm returns a cache that holds the start of the prompt.
func (x *examination) warm(ctx context.Context, m *model.Model) (compute.Cache, error) {
	cache, err := m.NewCache()
	if err != nil {
		return nil, err
	}
	base := x.base(m)
	_, err = m.Prefill(ctx, cache, base[:min(len(base), max(1, cache.Cap()-1))], nil)
	return cache, err
}

// timed runs one pass over m tokens of the prompt and returns its time in milliseconds. It reads the
// best tokens, so that a device has finished, and then removes the tokens from the cache. Each pass
// has different tokens: in a mixture of experts, equal rows choose equal experts, so a pass over equal rows
// would be too cheap.
func (x *examination) timed(ctx context.Context, of *model.Model, cache compute.Cache, pass func(ids []int32) (compute.Logits, error), m int) (ms float64, err error) {
	before, ids := cache.Len(), make([]int32, m)
	if err := compute.Checkpoint(cache); err != nil {
		return 0, err
	}
	for i := range ids {
		ids[i] = x.Prompt[x.read%len(x.Prompt)] % int32(of.Config().Vocab)
		x.read++
	}
	began := x.Now()
	logits, err := pass(ids)
	if err == nil {
		err = logits.Argmax(make([]int32, logits.Rows()))
	}
	ms = float64(x.Now().Sub(began)) / float64(time.Millisecond)
	if err != nil {
		return 0, err
	}
	return ms, cache.Truncate(before)
}

func (x *examination) draftCost(ctx context.Context) error {
	if x.Draft == nil {
		return nil
	}
	cache, err := x.warm(ctx, x.Draft)
	if err != nil {
		return err
	}
	defer cache.Close()
	for range costRuns {
		ms, err := x.timed(ctx, x.Draft, cache, func(ids []int32) (compute.Logits, error) { return x.Draft.Prefill(ctx, cache, ids, nil) }, 1)
		if err != nil {
			return err
		}
		if x.report.DraftMS == 0 || ms < x.report.DraftMS {
			x.report.DraftMS = ms
		}
	}
	share := x.report.DraftMS / x.report.VerifyMS[0]
	status := OK
	if share > 0.5 {
		status = Warn
	}
	x.add("draft step", status, "use a smaller draft model, or --proposer ngram", "%.3f ms, %.2f of a target pass", x.report.DraftMS, share)
	return nil
}

// tellCurve describes v(m) and its jumps.
func (x *examination) tellCurve() {
	v := x.report.VerifyMS
	var shown, cliffs []string
	var steps []float64
	for i := range len(v) - 1 {
		steps = append(steps, v[i+1]-v[i])
	}
	slices.Sort(steps)
	for i, ms := range v {
		shown = append(shown, fmt.Sprintf("%.2f", ms/v[0]))
		if i > 0 && ms-v[i-1] > max(cliff*steps[len(steps)/2], minCliff*v[i-1]) {
			cliffs = append(cliffs, fmt.Sprintf("%d rows cost %.2f × %d rows", i+1, ms/v[i-1], i))
			x.report.Cliffs = append(x.report.Cliffs, i+1)
		}
	}
	text := fmt.Sprintf("%.3f ms a row; 1 to %d rows cost %s × that", v[0], len(v), strings.Join(shown, " "))
	if len(cliffs) > 0 {
		text += "; cliffs: " + strings.Join(cliffs, ", ")
	}
	if read := x.report.ExpertsRead; len(read) > 0 {
		text += fmt.Sprintf("; of %d experts in a layer they read", x.Target.Config().Experts.Experts)
		for _, n := range read {
			text += fmt.Sprintf(" %.1f", n)
		}
	}
	status := OK
	if n := len(v); n > 1 && v[n-1] > 0.9*float64(n)*v[0] {
		status = Warn
	}
	x.add("v(m)", status, "verification costs as much as decoding here, so only a cheap proposer with many hits pays: --proposer ngram", "%s", text)
}

// memory compares the memory that the models need with what is available.
func (x *examination) memory(context.Context) error {
	const mib = 1 << 20
	m := &x.report.Memory
	m.WeightBytes, m.CacheBytes = x.Ready.Target.WeightBytes, x.Ready.Target.CacheBytes
	if d := x.Ready.Draft; d != nil {
		m.WeightBytes += d.WeightBytes
		m.CacheBytes += d.CacheBytes
	}
	m.ResidentBytes, m.AvailableBytes = ResidentBytes(), x.Available
	text := fmt.Sprintf("weights %d MiB, a conversation's keys and values %d MiB", m.WeightBytes/mib, m.CacheBytes/mib)
	if m.ResidentBytes > 0 {
		text += fmt.Sprintf(", this process %d MiB", m.ResidentBytes/mib)
	}
	status := OK
	if m.AvailableBytes > 0 {
		text += fmt.Sprintf("; %d MiB are still available", m.AvailableBytes/mib)
		if m.AvailableBytes < m.CacheBytes || m.AvailableBytes < m.WeightBytes/10 {
			status = Warn
		}
	}
	x.add("memory", status, "choose a shorter --context, --cache f16 (or q8_0, on the CPU) or a smaller file, before the system begins to swap", "%s", text)
	return nil
}

// ResidentBytes is this process's resident memory on Linux; 0 elsewhere.
func ResidentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || pages > math.MaxInt64/int64(os.Getpagesize()) {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
