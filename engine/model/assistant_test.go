package model_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/model/modeltest"
	"specula/engine/weights"
)

// assistants lists the targets for which there is a drafter in testdata/assistants.
func assistants(t *testing.T) []fixture { return fixturesIn(t, "testdata/assistants") }

func assistantData(t *testing.T, target string) []byte {
	return modeltest.Unpack(t, "testdata/assistants/"+target+".gguf.gz")
}

// openAssistant loads the drafter in data for a target, with room for 64 tokens.
func openAssistant(t *testing.T, target *model.Model, data []byte) (*model.Head, error) {
	t.Helper()
	file, err := weights.Parse("mtp", data)
	if err != nil {
		t.Fatal(err)
	}
	return model.LoadAssistant(t.Context(), target, file, model.Options{MaxTokens: 64})
}

// The drafter of Gemma 4 drafts what transformers drafts: after texts shorter and longer than the window, and
// again after the target has read a draft and gone back.
func TestAssistantsAgainstTransformers(t *testing.T) {
	for _, f := range assistants(t) {
		for _, prompt := range f.prompts {
			t.Run(fmt.Sprint(f.name, "/", len(prompt.IDs)), func(t *testing.T) {
				target := f.open(t, newBackend(t, 1), model.Options{MaxTokens: 64, MaxRows: 8, PrefillRows: 64})
				head, err := openAssistant(t, target, assistantData(t, f.name))
				if err != nil {
					t.Fatal(err)
				}
				cache, last := newCache(t, target), len(prompt.IDs)-1
				s, err := head.Assistant.NewState(cache)
				if err != nil {
					t.Fatal(err)
				}
				target.Attach(s.Tap())
				if _, err := target.Prefill(t.Context(), cache, prompt.IDs[:last], nil); err != nil {
					t.Fatal(err)
				}
				if err := s.Keep(0, last, true); err != nil {
					t.Fatal(err)
				}
				compareDrafts(t, s, ownCache(t, s), prompt, 4*f.tolerance())
				// A round in which the target reads the last token and a draft, and rejects all of it.
				if _, err := target.Forward(t.Context(), cache, slices.Concat(prompt.IDs[last:], prompt.Drafted)); err != nil {
					t.Fatal(err)
				}
				if err := cache.Truncate(last); err != nil {
					t.Fatal(err)
				}
				compareDrafts(t, s, ownCache(t, s), prompt, 4*f.tolerance())
			})
		}
	}
}

func ownCache(t *testing.T, s guesser) compute.Cache {
	t.Helper()
	cache, err := s.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

// compareDrafts drafts after a prompt, of which the target has read all but the last token. own is a cache of the
// head, which holds the first tokens of the prompt, or none.
func compareDrafts(t *testing.T, s guesser, own compute.Cache, prompt fixturePrompt, tolerance float64) {
	t.Helper()
	unread := prompt.IDs[own.Len():]
	for i, want := range prompt.Guesses {
		logits, err := s.Prefill(t.Context(), own, unread, nil)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float32, logits.Vocab())
		if err := logits.Row(0, row); err != nil {
			t.Fatal(err)
		}
		for v := range row {
			if diff := math.Abs(float64(row[v]) - want[v]); !(diff <= tolerance) {
				t.Fatalf("step %d: logit %d is %v, want %v", i, v, row[v], want[v])
			}
		}
		unread = prompt.Drafted[i : i+1]
	}
}

// A drafter that was made for another target, or whose file says something impossible, is refused with the field,
// what it is and what is allowed.
func TestAssistantsThatDoNotFitAreRefused(t *testing.T) {
	shared := &fixture{name: "gemma4-shared"}
	data := assistantData(t, shared.name)
	key := func(name string) string { return "gemma4-assistant." + name }
	for want, c := range map[string]struct {
		target string
		data   []byte
	}{
		"the target is a gemma3 model":                                 {"gemma3", data},
		`embedding_length_out" is 31; allowed is 32`:                   {shared.name, withUint32(data, key("embedding_length_out"), 31)},
		`nextn_predict_layers" is 3; allowed is 4`:                     {shared.name, withUint32(data, key("nextn_predict_layers"), 3)},
		`block_count" is 0; allowed`:                                   {shared.name, withUint32(data, key("block_count"), 0)},
		`sliding_window_pattern" is a list of 4; allowed is one value`: {shared.name, withUint32(data, key("block_count"), 5)},
		`key_length" is 18 in layer 1; allowed is 16, as in layer 4`:   {shared.name, withUint32(data, key("attention.key_length"), 18)},
		`key_length_swa" is 16 in layer 0; allowed is 8`:               {shared.name, withUint32(data, key("attention.key_length_swa"), 16)},
		`head_count_kv" is 2 in layer 1; allowed is 1`:                 {"gemma4", data},
		`sliding_window" is 17 in layer 0; allowed is 16`:              {shared.name, withUint32(data, key("attention.sliding_window"), 17)},
		`sliding_window" is 1; allowed is at least 2`:                  {shared.name, withUint32(data, key("attention.sliding_window"), 1)},
		`pre_projection.weight" is missing`:                            {shared.name, bytes.Replace(data, []byte("nextn.pre_projection"), []byte("nextn.pre_projektion"), 1)},
	} {
		target := (&fixture{name: c.target}).open(t, newBackend(t, 1), model.Options{MaxTokens: 64})
		if _, err := openAssistant(t, target, c.data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}

// storing is a backend without AttendPast.
type storing struct{ compute.Backend }

// A device that cannot attend without storing keys refuses the drafter in words, before it loads anything.
func TestDevicesRefuseAssistantsInWords(t *testing.T) {
	f := &fixture{name: "gemma4"}
	b := host.New(1)
	defer b.Close()
	target := f.open(t, struct {
		storing
		compute.Extra
	}{storing{b}, b}, model.Options{MaxTokens: 64})
	if _, err := openAssistant(t, target, assistantData(t, f.name)); err == nil || !strings.Contains(err.Error(), "choose --device cpu") {
		t.Errorf("error %v, want one that names another device", err)
	}
}

// A drafter drafts the same, bit for bit, from a cache with rings and from one that keeps all rows: around the
// borders of the rings, and after rounds that were rejected.
func TestAssistantsReadRings(t *testing.T) {
	const name = "gemma4-shared"
	backend := newBackend(t, 1)
	drafter := func(m *model.Model, cache compute.Cache) *model.AssistantState {
		file, err := weights.Parse("mtp", withUint32(assistantData(t, name), "gemma4-assistant.context_length", ringContext))
		if err != nil {
			t.Fatal(err)
		}
		head, err := model.LoadAssistant(t.Context(), m, file, model.Options{MaxTokens: ringContext})
		if err != nil {
			t.Fatal(err)
		}
		s, err := head.Assistant.NewState(cache)
		if err != nil {
			t.Fatal(err)
		}
		m.Attach(s.Tap())
		return s
	}
	ring, whole := windowed(t, backend, name), windowed(t, wholeCaches{backend}, name)
	cache, reference := newCache(t, ring), newCache(t, whole)
	if _, ok := cache.(compute.Partial); !ok {
		t.Fatal("the cache has no rings")
	}
	fromRing, fromWhole := drafter(ring, cache), drafter(whole, reference)
	text := randomIDs(ringContext, ring.Config().Vocab, 8)
	rejected := randomIDs(mostRows, ring.Config().Vocab, 9)
	for at, rows := 0, 1; at+64+mostRows < ringContext; rows = (rows*5+7)%64 + 1 {
		drafted := make([][][]float32, 2)
		for i, side := range []struct {
			m     *model.Model
			cache compute.Cache
			s     *model.AssistantState
		}{{ring, cache, fromRing}, {whole, reference, fromWhole}} {
			if _, err := side.m.Prefill(t.Context(), side.cache, text[at:at+rows], nil); err != nil {
				t.Fatal(err)
			}
			if err := side.s.Keep(at, rows, true); err != nil {
				t.Fatal(err)
			}
			if i == 0 { // a round whose draft is rejected
				if _, err := side.m.Forward(t.Context(), side.cache, rejected); err != nil {
					t.Fatal(err)
				}
				if err := side.cache.Truncate(at + rows); err != nil {
					t.Fatal(err)
				}
			}
			own, err := side.s.NewCache()
			if err != nil {
				t.Fatal(err)
			}
			for _, ids := range [][]int32{text[:at+rows+1], rejected[:1], rejected[1:2]} {
				logits, err := side.s.Prefill(t.Context(), own, ids, nil)
				if err != nil {
					t.Fatal(err)
				}
				drafted[i] = append(drafted[i], scoresOf(t, logits)...)
			}
		}
		at += rows
		sameRows(t, fmt.Sprintf("after %d tokens", at), drafted[0], drafted[1])
	}
}
