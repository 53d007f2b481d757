//go:build cuda && linux && cgo

package gpu_test

import (
	"testing"
	"time"

	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/model/modeltest"
	"specula/kernels/ref"
	"specula/tokenizer"
	"specula/tokenizer/chat"
)

// The host makes every decision of a sampled reply of models with states again, from the same uniforms and from rows
// that it computes from the text alone. A state that had seen a refused token would give other rows. The draft model
// has states, too, but is unlike the target, so many of its tokens are refused.
func TestSampledRoundsOverStatesReplayedOnTheHost(t *testing.T) {
	b := open(t)
	for _, c := range []struct{ target, draft string }{{"qwen35", "lfm2"}, {"granitehybrid", "lfm2"}} {
		t.Run(c.target, func(t *testing.T) {
			var data [2][]byte
			for i, name := range []string{c.target, c.draft} {
				data[i] = modeltest.Unpack(t, "../engine/model/testdata/architectures/"+name+".gguf.gz")
			}
			e, err := engine.Load(t.Context(), engine.Options{
				Config: config.Default(), Backend: b, Now: time.Now, CalibrationTime: time.Millisecond, NewSeed: func() int64 { return 1 },
				Target: engine.Source{Name: "target", Embedded: data[0]}, Draft: engine.Source{Name: "draft", Embedded: data[1]},
			}, func(event.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			h := replay{target: stateRows(t, b, data[0]), draft: stateRows(t, b, data[1]), by: ref.Filters{TopP: 0.95}, temperature: 1}
			s := sampledSession(t, e, "temperature", "1", "max-tokens", "8")
			const prompt = "SPECULATE"
			reply := ask(t, s, prompt)
			if reply.failed != "" {
				t.Fatal(reply.failed)
			}
			context := promptIDs(t, data[0], prompt)
			for _, r := range reply.rounds {
				h.round(t, context, r)
				for _, token := range r.Committed() {
					context = append(context, token.ID)
				}
			}
			if t.Logf("%d tokens in %d rounds, %d of them refused two tokens or more", h.tokens, len(reply.rounds), h.leftBehind); h.tokens < 6 || h.leftBehind < 2 {
				t.Errorf("%d tokens and %d rounds that refused two tokens or more are too few", h.tokens, h.leftBehind)
			}
		})
	}
}

// stateRows computes rows of a model with states.
func stateRows(t *testing.T, b compute.Backend, data []byte) *reader {
	t.Helper()
	m := load(t, b, data, model.Options{MaxTokens: 64, MaxRows: 4, PrefillRows: 64, CacheType: compute.F16})
	return &reader{model: m, cache: readerOf(t, m).cache}
}

// promptIDs returns the tokens of a conversation with this prompt.
func promptIDs(t *testing.T, data []byte, prompt string) []int32 {
	t.Helper()
	vocab, err := parse(t, data).TokenizerSpec()
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := tokenizer.New(vocab)
	if err != nil {
		t.Fatal(err)
	}
	o := chat.Options{BOS: vocab.Tokens[vocab.BOS], EOS: vocab.Tokens[vocab.EOS]}
	for id, name := range vocab.Tokens {
		if tokens.IsControl(int32(id)) {
			o.Specials = append(o.Specials, name)
		}
	}
	template, err := chat.Choose(o)
	if err != nil {
		t.Fatal(err)
	}
	segments, err := template.Render([]chat.Message{{Role: "user", Content: prompt}}, true)
	if err != nil {
		t.Fatal(err)
	}
	return tokens.EncodeSegments(segments)
}
