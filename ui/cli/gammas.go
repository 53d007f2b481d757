package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"specula/engine/app"
	"specula/engine/config"
)

// gammaFlags are the flags of bench that compare draft lengths.
type gammaFlags struct {
	gammas       string
	sets         []string
	temperatures []float64
}

// benchGammas compares draft lengths with each other, instead of speculation with plain decoding.
func (a *invocation) benchGammas(ctx context.Context, o benchFlags) error {
	gammas, err := gammaRange(o.gamma.gammas)
	if err != nil {
		return err
	}
	if o.repeats == 0 {
		o.repeats = 5
	}
	if o.repeats < 1 || o.prompts < 1 || o.genTokens < 1 {
		return usagef("--repeats, --prompts and --gen-tokens must be at least 1")
	}
	c, err := a.toldSettings()
	if err != nil {
		return err
	}
	options := app.GammaOptions{
		Config: c, Gammas: gammas, Sets: o.gamma.sets, Temperatures: o.gamma.temperatures,
		Count: o.prompts, GenTokens: o.genTokens, Repeats: o.repeats,
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	r, err := a.CompareGammas(ctx, options, a.countProgress("cell"))
	if err != nil {
		return a.classify(err)
	}
	if err := a.printReport(r, o.json); err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	if !r.Matched() {
		return fmt.Errorf("a greedy text differs with speculation")
	}
	return nil
}

// gammaRange returns the draft lengths that a text such as "0-8" or "4" names.
func gammaRange(text string) ([]int, error) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, errFrom := strconv.Atoi(first)
	to, errTo := strconv.Atoi(last)
	if errFrom != nil || errTo != nil || from < 0 || to < from || to > config.MaxGamma {
		return nil, usagef("--gammas must be a draft length or a range of them such as 0-8, from 0 to %d, got %.32q", config.MaxGamma, text)
	}
	var all []int
	for gamma := from; gamma <= to; gamma++ {
		all = append(all, gamma)
	}
	return all, nil
}
