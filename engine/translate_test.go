package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"specula/assets"
	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/tokenizer"
)

// strange returns the embedded draft model with its vocabulary in reverse order and with another name for
// the end token. It lacks the tokens for which gone is true, so their text must be spelled by shorter
// ones.
func strange(t *testing.T, gone func(text string) bool) []byte {
	t.Helper()
	file, err := weights.Parse("draft", assets.Draft())
	if err != nil {
		t.Fatal(err)
	}
	vocab, err := file.TokenizerSpec()
	if err != nil {
		t.Fatal(err)
	}
	n := len(vocab.Tokens)
	tokens, types := make([]string, n), make([]int32, n)
	missing := map[string]bool{}
	for id, text := range vocab.Tokens {
		at := n - 1 - id
		tokens[at], types[at] = text, vocab.Types[id]
		switch {
		case int32(id) == vocab.EOS:
			tokens[at] = "</s>"
		case vocab.Types[id] == tokenizer.TypeNormal && utf8.RuneCountInString(text) > 1 && gone(text):
			missing[text] = true
			tokens[at], types[at] = fmt.Sprintf("[gone %d]", id), tokenizer.TypeUnused
		}
	}
	var merges []string
	for _, merge := range vocab.Merges {
		left, right, _ := strings.Cut(merge, " ")
		if !missing[left] && !missing[right] && !missing[left+right] {
			merges = append(merges, merge)
		}
	}
	var b gguf.Builder
	b.Set("general.architecture", "qwen3").Set("general.name", "strange draft")
	for _, key := range []string{"context_length", "embedding_length", "block_count", "feed_forward_length", "attention.head_count",
		"attention.head_count_kv", "attention.key_length", "attention.value_length", "rope.dimension_count"} {
		v, _, err := file.Uint("qwen3." + key)
		if err != nil {
			t.Fatal(err)
		}
		b.Set("qwen3."+key, uint32(v))
	}
	b.Set("qwen3.attention.layer_norm_rms_epsilon", float32(1e-6)).Set("qwen3.rope.freq_base", float32(10000))
	b.Set("tokenizer.ggml.model", "gpt2").Set("tokenizer.ggml.pre", vocab.Pre).Set("tokenizer.ggml.tokens", tokens)
	b.Set("tokenizer.ggml.token_type", types).Set("tokenizer.ggml.merges", merges)
	b.Set("tokenizer.ggml.eos_token_id", uint32(n-1)-uint32(vocab.EOS)).Set("tokenizer.ggml.add_bos_token", false)
	for _, tensor := range file.Tensors() {
		w, _, err := file.Tensor(tensor.Name)
		if err != nil {
			t.Fatal(err)
		}
		data := slices.Clone(w.Data)
		dims := []uint64{uint64(w.Cols), uint64(w.Rows)}
		if w.Rows == 1 {
			dims = dims[:1]
		}
		if w.Rows == n {
			row := len(data) / n
			for id := range n {
				copy(data[(n-1-id)*row:(n-id)*row], w.Data[id*row:])
			}
		}
		b.Tensor(tensor.Name, w.Type, data, dims...)
	}
	return b.Bytes()
}

func translated(t *testing.T, draft []byte, way string) *engine.Engine {
	t.Helper()
	c := config.Default()
	if err := c.Set("translate", way); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Load(t.Context(), engine.Options{
		Config: c, Target: engine.Source{Name: "target", Embedded: assets.Target()}, Draft: engine.Source{Name: "strange", Embedded: draft},
		Backend: host.New(1), Now: time.Now, CalibrationTime: briefly, NewSeed: func() int64 { return 42 },
	}, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A draft model with another vocabulary changes what is guessed, never what is written.
func TestDraftOfAnotherVocabulary(t *testing.T) {
	nothing := func(string) bool { return false }
	long := func(text string) bool { return len(text) > 5 }
	settings := []string{"temperature", "0", "max-tokens", "16", "seed", "1", "gamma-rule", "fixed", "gamma", "4"}
	prompts := assets.Prompts()[:50]
	plain := session(t, pair(), append(settings, "speculate", "off")...)
	same := session(t, pair(), settings...)
	var want [][]int32
	usual := 0
	for _, prompt := range prompts {
		want = append(want, write(t, plain, user(prompt), nil).ended.IDs)
		usual += write(t, same, user(prompt), nil).ended.Totals.Accepted
	}
	for _, tt := range []struct {
		name, way, used string
		gone            func(string) bool
		least, most     float64 // accepted tokens, divided by those of the draft with the same vocabulary
	}{
		{"the same tokens in another order", "auto", "by common tokens", nothing, 1, 1},
		{"without long tokens", "auto", "by common tokens", long, 0.15, 1},
		{"by text", "text", "by text", nothing, 0.7, 1.1},
		{"by text, without long tokens", "text", "by text", long, 0.15, 1.1},
		{"hardly anything in common", "auto", "by text", func(text string) bool { return true }, 0, 0.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := translated(t, strange(t, tt.gone), tt.way)
			s := session(t, e, settings...)
			if got := s.Ready().DraftTranslated; !strings.Contains(got, tt.used) {
				t.Errorf("the draft is used %q, want %q", got, tt.used)
			}
			accepted := 0
			for i, prompt := range prompts {
				r := write(t, s, user(prompt), nil)
				if !slices.Equal(r.ended.IDs, want[i]) {
					t.Errorf("%q: %q, want the target's own text", prompt, r.text())
				}
				accepted += r.ended.Totals.Accepted
			}
			share := float64(accepted) / float64(usual)
			t.Logf("%s: accepted %.2f of what a draft with the target's vocabulary gets", s.Ready().DraftTranslated, share)
			if share < tt.least || share > tt.most {
				t.Errorf("accepted %.2f of what a draft with the target's vocabulary gets, want %g to %g", share, tt.least, tt.most)
			}
		})
	}
}

func TestWithoutTranslationAnotherVocabularyIsRefused(t *testing.T) {
	e := translated(t, strange(t, func(string) bool { return false }), "off")
	s := session(t, e)
	if why := s.Ready().DraftRefused; !strings.Contains(why, "same token for every id") || !strings.Contains(why, "model.translate") {
		t.Errorf("refused because %q", why)
	}
}

// In a sampled chat with cancelled replies and a changing γ, each reply with translated drafts is the one that a new
// session writes: the caches hold what they must.
func TestTranslatedDraftsAreTakenBackWhole(t *testing.T) {
	for _, way := range []string{"tokens", "text"} {
		t.Run(way, func(t *testing.T) {
			e := translated(t, strange(t, func(text string) bool { return len(text) > 4 }), way)
			settings := []string{"temperature", "0.9", "max-tokens", "40", "seed", "3", "gamma-rule", "fixed", "gamma", "3"}
			s := session(t, e, settings...)
			messages := user("What is speculative decoding?")
			accepted := 0
			for turn, question := range []string{"And why?", "Über Zürich — 日本?", "Repeat that."} {
				ctx, cancel := context.WithCancel(t.Context())
				writeContext(t, ctx, s, messages, func(ev event.Event) {
					if round, ok := ev.(event.Round); ok && round.Index == 1 {
						cancel()
					}
				})
				cancel()
				r := write(t, s, messages, nil)
				if r.failed != "" {
					t.Fatal(r.failed)
				}
				fresh := write(t, session(t, e, append(settings, "gamma", fmt.Sprint(s.Settings().Speculation.Gamma))...), messages, nil)
				if !slices.Equal(r.ended.IDs, fresh.ended.IDs) {
					t.Errorf("turn %d: wrote %q, a new session %q", turn, r.ended.Text, fresh.ended.Text)
				}
				accepted += r.ended.Totals.Accepted
				messages = append(messages, engine.Message{Role: "assistant", Content: r.text()}, engine.Message{Role: "user", Content: question})
				change(t, s, "gamma", fmt.Sprint(1+turn*3))
			}
			if accepted == 0 {
				t.Error("nothing was accepted")
			}
		})
	}
}
