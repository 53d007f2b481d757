// Package speed measures what the passes of one model cost on a backend: decoding, reading a
// prompt, verifying.
//
// Other programs can only add time to a measurement. So the time of a product is the least of several runs.
// Passes and steps of different lengths or models take turns, because they are compared; their times are
// medians.
package speed

import (
	"context"
	"fmt"
	"time"

	"specula/engine/compute"
	"specula/engine/model"
)

// Passes are the measurements by which inference programs are usually compared.
type Passes struct {
	PromptTokens int     `json:"promptTokens"`
	PrefillPerS  float64 `json:"prefillPerS"` // tokens per second
	DecodePerS   float64 `json:"decodePerS"`
}

// MeasurePasses times one prefill of promptTokens, and then greedy decoding of decodeTokens after
// it. It warms up first.
func MeasurePasses(ctx context.Context, m *model.Model, promptTokens, decodeTokens int, now func() time.Time) (Passes, error) {
	cache, err := m.NewCache()
	if err != nil {
		return Passes{}, err
	}
	defer cache.Close()
	prompt := promptOf(promptTokens, m)
	if _, err := m.Prefill(ctx, cache, prompt[:min(promptTokens, 32)], nil); err != nil {
		return Passes{}, fmt.Errorf("warming up: %w", err)
	}
	if err := decode(ctx, m, cache, 2); err != nil {
		return Passes{}, fmt.Errorf("warming up: %w", err)
	}
	if err := cache.Truncate(0); err != nil {
		return Passes{}, err
	}
	start := now()
	if _, err := m.Prefill(ctx, cache, prompt, nil); err != nil {
		return Passes{}, fmt.Errorf("reading a prompt of %d tokens: %w", promptTokens, err)
	}
	read := now()
	if err := decode(ctx, m, cache, decodeTokens); err != nil {
		return Passes{}, fmt.Errorf("decoding: %w", err)
	}
	end := now()
	return Passes{
		PromptTokens: promptTokens,
		PrefillPerS:  float64(promptTokens) / read.Sub(start).Seconds(),
		DecodePerS:   float64(decodeTokens) / end.Sub(read).Seconds(),
	}, nil
}

// promptOf returns a prompt with the given number of tokens, in which neighbours differ.
func promptOf(tokens int, m *model.Model) []int32 {
	prompt := make([]int32, tokens)
	for i := range prompt {
		prompt[i] = int32((i*7919 + 13) % min(900, m.Config().Vocab))
	}
	return prompt
}

// decode lets the model write the given number of tokens, each the one with the highest score.
func decode(ctx context.Context, m *model.Model, cache compute.Cache, tokens int) error {
	id := []int32{7}
	for range tokens {
		logits, err := m.Forward(ctx, cache, id)
		if err != nil {
			return err
		}
		if err := logits.Argmax(id); err != nil {
			return err
		}
	}
	return nil
}
