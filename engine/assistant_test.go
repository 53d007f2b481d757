package engine_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"specula/engine"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/model/modeltest"
)

// assisted is the file of a tiny target with shared keys; the file of its drafter has the same name.
const assisted = "gemma4-shared.gguf.gz"

func targetData(t testing.TB) []byte {
	return modeltest.Unpack(t, filepath.Join("model/testdata/architectures", assisted))
}

func drafterData(t testing.TB) []byte {
	return modeltest.Unpack(t, filepath.Join(assistants, assisted))
}

// Greedy replies are the target's text at every γ, and the longest draft has as many tokens as γ allows.
func TestAssistantsDraftAtEveryGamma(t *testing.T) {
	e := family(t, filepath.Join("model/testdata/architectures", assisted))
	plain := session(t, e, "temperature", "0", "max-tokens", "40", "speculate", "off")
	rng := rand.New(rand.NewPCG(11, 1))
	s := session(t, e, "temperature", "0", "max-tokens", "40", "gamma-rule", "fixed", "proposer", "mtp")
	for gamma := 1; gamma <= 8; gamma++ {
		change(t, s, "gamma", fmt.Sprint(gamma))
		longest := 0
		for range 2 {
			messages := user(letters(rng, 5+rng.IntN(30)))
			got, want := write(t, s, messages, nil), write(t, plain, messages, nil)
			if got.failed != "" || !slices.Equal(got.ended.IDs, want.ended.IDs) {
				t.Errorf("gamma %d: error %q, wrote %q, want %q", gamma, got.failed, got.ended.Text, want.ended.Text)
			}
			for _, round := range got.rounds {
				longest = max(longest, len(round.Draft))
			}
		}
		if longest != gamma {
			t.Errorf("gamma %d: the longest draft has %d tokens", gamma, longest)
		}
	}
}

// A drafter for another target is no error: mtp says what does not fit, and auto chooses another proposer.
func TestAssistantsOfOtherTargetsAreLeftAside(t *testing.T) {
	drafter := drafterData(t)
	width := slices.Clone(drafter)
	key := []byte("gemma4-assistant.embedding_length_out")
	binary.LittleEndian.PutUint32(width[bytes.Index(width, key)+len(key)+4:], 48)
	gemma3 := modeltest.Unpack(t, "model/testdata/architectures/gemma3.gguf.gz")
	for want, c := range map[string]struct{ target, draft []byte }{
		`embedding_length_out" is 48; allowed is 32`: {targetData(t), width},
		"the target is a gemma3 model":               {gemma3, drafter},
		`id 0 is "<pad>" in the target and "<pod>"`:  {targetData(t), bytes.Replace(drafter, []byte("<pad>"), []byte("<pod>"), 1)},
	} {
		o := options(host.New(1))
		o.Heads, o.Target, o.Draft = nil, engine.Source{Name: "target", Embedded: c.target}, engine.Source{Name: "mtp", Embedded: c.draft}
		e, err := engine.Load(t.Context(), o, func(event.Event) {})
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		s := session(t, e, "temperature", "0", "max-tokens", "8")
		r := s.Ready()
		if why := refusals(r)["mtp"]; !strings.Contains(why, want) || r.Draft != nil || r.Auto.Proposer != "suffix" || !strings.Contains(r.Auto.Why, want) {
			t.Errorf("%s: mtp is refused because %q, auto is %+v", want, why, r.Auto)
		}
		if got := write(t, s, user("ABCABC"), nil); got.failed != "" {
			t.Errorf("%s: the reply failed: %s", want, got.failed)
		}
	}
}

// DrafterBeside looks at the drafters for the target's width and finds the one whose name begins most like the
// target's.
func TestTheDrafterBesideATargetIsFound(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a [b]*")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	target := put("gemma-4-E2B-it-Q8_0.gguf", targetData(t))
	check := func(want string) {
		t.Helper()
		if got := engine.DrafterBeside(t.Context(), target).Path; got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	check("")
	put("mtp-gemma-4-E2B-it-Q8_0.gguf", targetData(t)) // no drafter
	put("mtp-gemma-4-E2B-it-Q8_1.gguf", drafterData(t)[:3000])
	other := slices.Clone(drafterData(t))
	key := []byte("gemma4-assistant.embedding_length_out")
	binary.LittleEndian.PutUint32(other[bytes.Index(other, key)+len(key)+4:], 48)
	put("mtp-gemma-4-E2B-it-Q8.gguf", other)
	check("")
	put("mtp-another.gguf", drafterData(t))
	check(filepath.Join(folder, "mtp-another.gguf"))
	check(put("mtp-gemma-4-E2B-it.gguf", drafterData(t)))
}
