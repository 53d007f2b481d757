package engine_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/engine/weights/safetensors"
	"specula/tokenizer/chat"
)

// Sizes of the demo target and of heads for it.
const (
	demoDim, demoVocab      = 256, 4096
	headFFN, headKeys, part = 64, 128, 1024
)

// headWeights returns the weights of a tensor of rows × cols; rows is 1 for a vector.
type headWeights func(name string, rows, cols int) []float32

// noise returns random heads, which know nothing.
func noise(seed uint64) headWeights {
	rng := rand.New(rand.NewPCG(seed, 4))
	return func(name string, rows, cols int) []float32 {
		out := make([]float32, rows*cols)
		for i := range out {
			out[i] = float32(rng.NormFloat64() / math.Sqrt(float64(cols)))
			if strings.Contains(name, "norm") {
				out[i] = 1
			}
		}
		return out
	}
}

// echo returns heads that repeat the target's last hidden state. The target made its last token from it,
// so at temperature 0 they guess this token again, and nothing else. A wrong row, a lost row or one read
// twice is noticed at once.
func echo(t *testing.T) headWeights {
	target, err := weights.Parse("target", assets.Target())
	if err != nil {
		t.Fatal(err)
	}
	stored := func(name string) []float32 {
		w, _, err := target.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		numbers, err := gguf.Decode(w.Type, w.Data)
		if err != nil {
			t.Fatal(err)
		}
		return numbers
	}
	return func(name string, rows, cols int) []float32 {
		out := make([]float32, rows*cols)
		switch {
		case name == "norm.weight":
			return stored("output_norm.weight")
		case name == "lm_head.weight", strings.HasSuffix(name, ".1.weight"):
			return stored("token_embd.weight")[:rows*cols]
		case name == "fc.weight": // the last block of columns is the state
			for i := range rows {
				out[i*cols+cols-rows+i] = 1
			}
		}
		return out
	}
}

// eagleFile writes an EAGLE head, or an EAGLE-3 head over a part of the vocabulary.
func eagleFile(t *testing.T, third bool, fill headWeights) string {
	t.Helper()
	var b safetensors.Builder
	add := func(name string, rows, cols int) { b.Floats(name, compute.F32, fill(name, rows, cols), rows, cols) }
	vector := func(name string, n int) { b.Floats(name, compute.F32, fill(name, 1, n), n) }
	layer, in, states := "layers.0.", demoDim, 2
	if third {
		layer, in, states = "midlayer.", 2*demoDim, 3
		vector(layer+"hidden_norm.weight", demoDim)
		vector(layer+"input_layernorm.weight", demoDim)
		vector("norm.weight", demoDim)
		add("lm_head.weight", part, demoDim)
		offsets := make([]int64, part)
		offsets[part-1] = 2 // all other tokens have the same number in the target's vocabulary
		b.Integers("d2t", offsets)
	}
	add("fc.weight", demoDim, states*demoDim)
	add(layer+"self_attn.q_proj.weight", demoDim, in)
	add(layer+"self_attn.k_proj.weight", headKeys, in)
	add(layer+"self_attn.v_proj.weight", headKeys, in)
	add(layer+"self_attn.o_proj.weight", demoDim, demoDim)
	vector(layer+"post_attention_layernorm.weight", demoDim)
	add(layer+"mlp.gate_proj.weight", headFFN, demoDim)
	add(layer+"mlp.up_proj.weight", headFFN, demoDim)
	add(layer+"mlp.down_proj.weight", demoDim, headFFN)
	config := ""
	if third {
		// The last of the three states is the one after all layers (8): before the last two layers the target at
		// times still favours another token.
		config = `{"num_attention_heads":4,"eagle_aux_hidden_state_layer_ids":[0,3,8]}`
	}
	return headFile(t, &b, config)
}

func medusaFile(t *testing.T, heads int, fill headWeights) string {
	t.Helper()
	var b safetensors.Builder
	for i := range heads {
		at := func(name string) string { return string(rune('0'+i)) + name }
		b.Floats(at(".0.linear.weight"), compute.F32, fill(at(".0.linear.weight"), demoDim, demoDim), demoDim, demoDim)
		b.Floats(at(".0.linear.bias"), compute.F32, fill(at(".0.linear.bias"), 1, demoDim), demoDim)
		b.Floats(at(".1.weight"), compute.F32, fill(at(".1.weight"), demoVocab, demoDim), demoVocab, demoDim)
	}
	return headFile(t, &b, `{"medusa_num_heads":3}`)
}

func headFile(t *testing.T, b *safetensors.Builder, config string) string {
	t.Helper()
	folder := t.TempDir()
	err := os.WriteFile(filepath.Join(folder, "model.safetensors"), b.Bytes(), 0o600)
	if err == nil && config != "" {
		err = os.WriteFile(filepath.Join(folder, "config.json"), []byte(config), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// withHeads loads the demo pair without its own heads, and with those in a file unless path is "".
func withHeads(t *testing.T, path string) *engine.Engine {
	t.Helper()
	o := options(host.New(1))
	o.Heads, o.Config.Model.Heads = nil, path
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// kindsOfHeads returns a file and a proposer for each kind of heads, with the given weights.
func kindsOfHeads(t *testing.T, fill headWeights) map[string]struct{ path, proposer string } {
	return map[string]struct{ path, proposer string }{
		"EAGLE":   {eagleFile(t, false, fill), "eagle"},
		"EAGLE-3": {eagleFile(t, true, fill), "eagle"},
		"Medusa":  {medusaFile(t, 4, fill), "medusa"},
	}
}

// Heads that know nothing cost time and change no text.
func TestHeadsNeverChangeGreedyText(t *testing.T) {
	prompts := assets.Prompts()[:50]
	settings := []string{"temperature", "0", "max-tokens", "9"}
	plain := session(t, pair(), append(settings, "speculate", "false")...)
	want := map[string][]int32{}
	for _, p := range prompts {
		want[p] = write(t, plain, user(p), nil).ended.IDs
	}
	for name, kind := range kindsOfHeads(t, noise(9)) {
		t.Run(name, func(t *testing.T) {
			s := session(t, withHeads(t, kind.path), append(settings, "proposer", kind.proposer, "gamma-rule", "fixed", "gamma", "3")...)
			drafted := 0
			for _, p := range prompts {
				got := write(t, s, user(p), nil)
				if got.failed != "" || !slices.Equal(want[p], got.ended.IDs) {
					t.Errorf("%q: %q, error %q", p, got.ended.Text, got.failed)
				}
				drafted += got.ended.Totals.Drafted
			}
			if drafted == 0 {
				t.Error("nothing was drafted")
			}
		})
	}
}

// echoes counts the draft tokens of a proposer that repeat the token before their round, and all its draft tokens.
// It leaves out rounds after a token from most on, which the heads cannot say.
func echoes(rounds []event.Round, proposer string, most int32) (heard, all int) {
	before := last(rounds[0]) // what the prompt ends with is the template's and not the target's choice
	for _, round := range rounds[1:] {
		for _, token := range round.Draft {
			if round.Proposer == proposer && before < most {
				if all++; token.ID == before {
					heard++
				}
			}
		}
		if c := round.Committed(); len(c) > 0 {
			before = c[len(c)-1].ID
		}
	}
	return heard, all
}

// Through several turns, cancellations, an earlier prompt, other proposers in between, and speculation
// switched off and on, the heads read the state that belongs to their place in the text.
func TestHeadsHearTheTargetsLastState(t *testing.T) {
	for name, kind := range kindsOfHeads(t, echo(t)) {
		t.Run(name, func(t *testing.T) {
			most := int32(demoVocab)
			if name == "EAGLE-3" {
				most = part - 1
			}
			s := session(t, withHeads(t, kind.path), "temperature", "0", "max-tokens", "40", "proposer", kind.proposer, "gamma-rule", "fixed", "gamma", "2")
			plain := session(t, pair(), "temperature", "0", "max-tokens", "40", "speculate", "false")
			var messages []chat.Message
			for turn, prompt := range assets.Prompts()[:6] {
				if turn == 4 {
					messages = messages[:2] // all turns but the first are taken back
				}
				messages = append(messages, chat.Message{Role: "user", Content: prompt})
				if turn%2 == 1 { // a first attempt is cancelled in mid-reply
					ctx, cancel := context.WithCancel(t.Context())
					writeContext(t, ctx, s, messages, func(e event.Event) {
						if round, ok := e.(event.Round); ok && round.Index == turn {
							cancel()
						}
					})
					cancel()
				}
				r := write(t, s, messages, func(e event.Event) {
					round, ok := e.(event.Round)
					switch {
					case ok && turn == 2 && round.Index == 4:
						change(t, s, "proposer", "draft")
					case ok && turn == 2 && round.Index == 8:
						change(t, s, "proposer", kind.proposer)
					case ok && turn == 3 && round.Index == 3:
						change(t, s, "speculate", "off")
					case ok && turn == 3 && round.Index == 6:
						change(t, s, "speculate", "on")
					}
				})
				want := write(t, plain, messages, nil)
				if r.failed != "" || !slices.Equal(r.ended.IDs, want.ended.IDs) {
					t.Fatalf("turn %d: %q, error %q, want %q", turn, r.ended.Text, r.failed, want.ended.Text)
				}
				if heard, all := echoes(r.rounds, kind.proposer, most); heard != all || all < 10 {
					t.Errorf("turn %d: %d of %d draft tokens echo the token before", turn, heard, all)
				}
				messages = append(messages, chat.Message{Role: "assistant", Content: r.ended.Text})
			}
		})
	}
}

func last(round event.Round) int32 {
	c := round.Committed()
	return c[len(c)-1].ID
}

// What heads have read before has no effect on a reply: a seed gives the same bytes.
func TestHeadsOfTheSameSeedGiveTheSameBytes(t *testing.T) {
	for name, kind := range kindsOfHeads(t, noise(5)) {
		t.Run(name, func(t *testing.T) {
			e := withHeads(t, kind.path)
			settings := []string{"temperature", "1.2", "seed", "7", "max-tokens", "25", "proposer", kind.proposer, "gamma-rule", "fixed", "gamma", "3", "costs", "nominal"}
			first := write(t, session(t, e, settings...), user(unsure()[0]), nil)
			again := session(t, e, settings...)
			write(t, again, user("tell me a joke about a dragon"), nil)
			if second := write(t, again, user(unsure()[0]), nil); first.failed != "" || !slices.Equal(first.ended.IDs, second.ended.IDs) {
				t.Errorf("first %q, then %q, error %q", first.ended.Text, second.ended.Text, first.failed)
			}
		})
	}
}

// Under guidance a pass has rows of two sequences; the heads take those of the text.
func TestHeadsUnderGuidance(t *testing.T) {
	e := withHeads(t, eagleFile(t, false, echo(t)))
	settings := []string{"temperature", "0", "max-tokens", "25", "guidance", "1.02", "gamma-rule", "fixed", "gamma", "2"}
	plain := write(t, session(t, e, append(settings, "speculate", "off")...), user("What is speculative decoding?"), nil)
	guided := write(t, session(t, e, append(settings, "proposer", "eagle")...), user("What is speculative decoding?"), nil)
	if guided.failed != "" || !slices.Equal(plain.ended.IDs, guided.ended.IDs) {
		t.Errorf("wrote %q, error %q, want %q", guided.ended.Text, guided.failed, plain.ended.Text)
	}
	// So little guidance hardly ever changes the best token, so the echo is heard nearly always.
	if heard, all := echoes(guided.rounds, "eagle", demoVocab); heard < all*9/10 || all < 20 {
		t.Errorf("%d of %d draft tokens echo the token before", heard, all)
	}
}

func TestHeadsThatCannotBeUsedSayWhy(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "heads.safetensors")
	if err := os.WriteFile(broken, []byte("not a file of heads"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(host.New(1))
	o.Config.Model.Heads = broken
	if _, err := engine.Load(t.Context(), o, func(event.Event) {}); err == nil || !strings.Contains(err.Error(), "header length") {
		t.Errorf("a broken file: %v", err)
	}
	var other safetensors.Builder
	other.Floats("0.0.linear.weight", compute.F32, make([]float32, 64*64), 64, 64)
	for _, c := range []struct{ name, path, proposer, want string }{
		{"none", "", "eagle", "--heads"},
		{"another width", headFile(t, &other, ""), "medusa", "shape 64 × 64; allowed is 256 × 256"},
		{"another kind", medusaFile(t, 1, noise(2)), "eagle", "choose the proposer medusa"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := session(t, withHeads(t, c.path), "proposer", c.proposer, "max-tokens", "3")
			r := write(t, s, user("hello"), nil)
			if r.failed != "" || len(r.rounds) == 0 || !strings.Contains(r.rounds[0].DraftWhy, c.want) {
				t.Errorf("error %q, why %q, want %q", r.failed, r.rounds[0].DraftWhy, c.want)
			}
		})
	}
}
