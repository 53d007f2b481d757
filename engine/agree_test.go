package engine_test

import (
	"math"
	"testing"

	"specula/assets"
	"specula/engine"
	"specula/engine/agreement"
	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/sample"
	"specula/engine/weights"
	"specula/tokenizer"
)

// plainly returns a model's scores after each token, read one token at a time.
func plainly(t *testing.T, backend compute.Backend, file []byte, tokens []int32) [][]float32 {
	t.Helper()
	f, err := weights.Parse("model", file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(t.Context(), backend, f, model.Options{MaxTokens: 200}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	var rows [][]float32
	for _, id := range tokens {
		logits, err := m.Forward(t.Context(), cache, []int32{id})
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float32, logits.Vocab())
		if err := logits.Row(0, row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// The α of a dialogue with two replies must equal the α from writing out the chat by hand and reading it
// token by token.
func TestAgreementAgainstReadingByHand(t *testing.T) {
	file, err := weights.Parse("target", assets.Target())
	if err != nil {
		t.Fatal(err)
	}
	vocab, err := file.TokenizerSpec()
	if err != nil {
		t.Fatal(err)
	}
	words, err := tokenizer.New(vocab)
	if err != nil {
		t.Fatal(err)
	}
	replies := []string{"Hello! How can I help you?", "A small draft model guesses the next few tokens, and the large target model checks them all in one pass."}
	var tokens []int32
	var judged []bool
	add := func(text string, counts bool) {
		for _, id := range words.EncodeSegments([]tokenizer.Segment{{Text: text, Special: true}}) {
			tokens, judged = append(tokens, id), append(judged, counts)
		}
	}
	add("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n", false)
	add(replies[0]+"<|im_end|>", true)
	add("\n<|im_start|>user\nWhat is speculative decoding?<|im_end|>\n<|im_start|>assistant\n", false)
	add(replies[1]+"<|im_end|>", true)

	temperatures := []float64{0, 0.7, 1}
	backend := host.New(1)
	defer backend.Close()
	p, q := plainly(t, backend, assets.Target(), tokens), plainly(t, backend, assets.Draft(), tokens)
	want, n := make([]float64, len(temperatures)), 0
	for at := 1; at < len(tokens); at++ {
		if !judged[at] {
			continue
		}
		n++
		for i, temperature := range temperatures {
			var both [2]sample.Dist
			for k, row := range [][]float32{p[at-1], q[at-1]} {
				params := sample.Params{Temperature: temperature, TopP: 1}
				if both[k], err = sample.FromLogits(make([]float64, len(row)), row, params); err != nil {
					t.Fatal(err)
				}
			}
			want[i] += agreement.Overlap(both[0], both[1])
		}
	}

	dialogue := []engine.Message{{Role: "user", Content: "hi"}, {Role: "assistant", Content: replies[0]},
		{Role: "user", Content: "What is speculative decoding?"}, {Role: "assistant", Content: replies[1]}}
	r, err := pair().Agreement(t.Context(), []agreement.Talk{{Turns: dialogue}}, temperatures, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Tokens != n || r.Dialogues != 1 {
		t.Errorf("%d tokens of %d dialogues, want %d of 1", r.Tokens, r.Dialogues, n)
	}
	for i, got := range r.At {
		if math.Abs(got.Alpha-want[i]/float64(n)) > 1e-9 || got.Alpha < 0.3 || got.Alpha > 1 {
			t.Errorf("temperature %g: α %.12f, read by hand %.12f", got.Temperature, got.Alpha, want[i]/float64(n))
		}
	}
}

func TestAgreementNeedsADraft(t *testing.T) {
	backend := host.New(1)
	defer backend.Close()
	o := options(backend)
	o.Draft = engine.Source{}
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := e.Agreement(t.Context(), []agreement.Talk{{Turns: user("hi")}}, []float64{1}, nil); err == nil {
		t.Errorf("without a draft it returned %+v, want an error", r)
	}
}

// An answer depends only on its conversation, and leaves the settings as they were.
func TestAnswerStandsAlone(t *testing.T) {
	s := session(t, pair(), "temperature", "1", "seed", "3")
	talk := []engine.Message{{Role: "user", Content: "hi"}, {Role: "assistant", Content: "Hello!"}, {Role: "user", Content: "What is a token?"}}
	first, err := s.Answer(t.Context(), talk, "sampling.temperature", "0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Answer(t.Context(), user("Tell me a joke.")); err != nil {
		t.Fatal(err)
	}
	again, err := s.Answer(t.Context(), talk, "sampling.temperature", "0")
	if err != nil || again != first || first == "" {
		t.Errorf("answered %q, then %q (%v)", first, again, err)
	}
	if c := s.Settings(); c.Sampling.Temperature != 1 {
		t.Errorf("the temperature is now %g", c.Sampling.Temperature)
	}
}
