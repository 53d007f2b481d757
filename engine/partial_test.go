package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"specula/engine"
	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/host"
	"specula/tokenizer/chat"
)

// forgetful is a backend whose caches can only remove their last tokens, or go back to one of two checkpoints.
type forgetful struct{ *host.Backend }

const forgetfulSpare = 34 // how many of the last tokens can be removed: those of a pass with the longest draft

type forgetfulCache struct {
	compute.Cache
	kept []int
}

func (b forgetful) Cache(s compute.CacheShape) (compute.Cache, error) {
	c, err := b.Backend.Cache(s)
	if err != nil || s.Layers == 1 { // the cache of a head
		return c, err
	}
	return &forgetfulCache{Cache: c}, nil
}

func (b forgetful) Attend(dst, q, k, v compute.Buffer, m int, c compute.Cache, a compute.Attention) error {
	if f, ok := c.(*forgetfulCache); ok {
		c = f.Cache
	}
	return b.Backend.Attend(dst, q, k, v, m, c, a)
}

func (c *forgetfulCache) Reach(n int) int {
	if n >= c.Len()-forgetfulSpare {
		return n
	}
	best := 0
	for _, length := range c.kept {
		if length <= n {
			best = max(best, length)
		}
	}
	return best
}

func (c *forgetfulCache) Truncate(n int) error {
	if reach := c.Reach(n); reach != n {
		return fmt.Errorf("asked to go back to %d of %d, and can go to %d", n, c.Len(), reach)
	}
	c.kept = slices.DeleteFunc(c.kept, func(length int) bool { return length > n })
	return c.Cache.Truncate(n)
}

func (c *forgetfulCache) Checkpoint() error {
	if c.Len() == 0 || slices.Contains(c.kept, c.Len()) {
		return nil
	}
	if c.kept = append(c.kept, c.Len()); len(c.kept) > 2 {
		c.kept = c.kept[1:]
	}
	return nil
}

// With caches that cannot be cut everywhere, replies that are written again, edited or continued have the
// same text with every proposer: missing tokens are read again.
func TestCachesThatCannotGoBackReadAgain(t *testing.T) {
	e, err := engine.Load(t.Context(), options(forgetful{newHost(t)}), func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	long := "Tell me about speculative decoding, acceptance, drafts, caches and what the target does with all of them."
	say := func(role, text string) chat.Message { return chat.Message{Role: role, Content: text} }
	first := user(long)
	dialogue := [][]chat.Message{
		first,
		first, // once more
		append(user(long), say("assistant", "It drafts."), say("user", "Go on, and say why it is exact.")), // other words than it wrote
		append(user(long), say("assistant", "It drafts."), say("user", "Go on, and say why it is fast.")),  // edited
		user("hello"),
	}
	for _, proposer := range available(t) {
		scales := []string{"1"}
		if proposer == "draft" {
			scales = append(scales, "1.5") // the companion's cache goes back, too
		}
		for _, scale := range scales {
			settings := []string{"temperature", "0", "max-tokens", "50", "proposer", proposer, "guidance", scale, "gamma-rule", "fixed", "gamma", "3"}
			whole, partial := session(t, pair(), settings...), session(t, e, settings...)
			for i, messages := range dialogue {
				want, got := write(t, whole, messages, nil), write(t, partial, messages, nil)
				if !slices.Equal(want.ended.IDs, got.ended.IDs) {
					t.Errorf("%s, guidance %s, reply %d: %q, with whole caches %q (%s)", proposer, scale, i, got.ended.Text, want.ended.Text, got.failed)
				}
				reused := got.started.ReusedTokens
				if whole := want.started.ReusedTokens; reused > whole || i > 0 && i < 4 && whole > 40 && reused == 0 {
					t.Errorf("%s, reply %d: %d tokens of %d reused, with whole caches %d", proposer, i, reused, got.started.PromptTokens, whole)
				}
			}
		}
	}
}

func newHost(t *testing.T) *host.Backend {
	t.Helper()
	b := host.New(1)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}
