package model_test

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights"
)

// A head of MTP in a target's file drafts what a float64 forward drafts, built on the layers of
// transformers: in whatever pieces it reads the text, and again after its drafts were rolled back.
func TestHeadsInFilesAgainstTransformers(t *testing.T) {
	compared := 0
	for _, f := range fixtures(t) {
		tolerance := 4 * f.tolerance() // the rounding of the target's states passes through the head, up to four times
		for _, prompt := range f.prompts {
			if prompt.Drafted == nil {
				continue
			}
			t.Run(fmt.Sprint(f.name, "/", len(prompt.IDs)), func(t *testing.T) {
				target := f.open(t, newBackend(t, 1), model.Options{MaxTokens: 64, MaxRows: 8, PrefillRows: 64, Head: true})
				head, why, err := target.Head()
				if err != nil || head == nil || head.Name != "mtp" {
					t.Fatalf("no head: %q, %v", why, err)
				}
				s := newGuesser(t, head)
				readBy(t, target, s, prompt.IDs)
				cache := ownCache(t, s)
				for _, piece := range []int{len(prompt.IDs), 3, 2} {
					for piece < len(prompt.IDs)-cache.Len() {
						if _, err := s.Prefill(t.Context(), cache, prompt.IDs[cache.Len():][:piece], nil); err != nil {
							t.Fatal(err)
						}
					}
					compareDrafts(t, s, cache, prompt, tolerance)
					compared += len(prompt.Guesses)
					if err := cache.Truncate(0); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
	if compared == 0 {
		t.Error("no fixture has a head")
	}
}

// A head that lacks a tensor, or has one too many, is left aside with a reason, and the model is loaded. A file that
// has no more than a norm of a head has none.
func TestHeadsThatCannotBeUsedAreLeftAside(t *testing.T) {
	file := func(name string) []byte { return (&fixture{name: name}).data(t) }
	for name, c := range map[string]struct {
		data []byte
		why  string
	}{
		"nothing but a norm": {file("glm4moe"), ""},
		"no head":            {file("qwen35"), ""},
		"a tensor is missing": {renamed(t, file("qwen35-mtp"), "blk.4.nextn.hnorm.weight", "blk.4.nextn.hnorn.weight"),
			"blk.4.nextn.hnorm.weight"},
		"a tensor too many": {renamed(t, file("glm4moe-mtp"), "blk.4.nextn.embed_tokens.weight", "blk.4.nextn.embed_tokemm.weight"),
			"has no place"},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := weights.Parse(name, c.data)
			if err != nil {
				t.Fatal(err)
			}
			m, err := model.Load(t.Context(), newBackend(t, 1), parsed, model.Options{MaxTokens: 64, Head: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			head, why, err := m.Head()
			if err != nil || head != nil || !strings.Contains(why, c.why) || (c.why == "") != (why == "") {
				t.Errorf("head %v, %q, %v; want %q", head, why, err, c.why)
			}
		})
	}
}

// renamed gives a tensor of a file another name of the same length.
func renamed(t *testing.T, data []byte, from, to string) []byte {
	t.Helper()
	at := strings.Index(string(data), from)
	if at < 0 || len(from) != len(to) {
		t.Fatalf("no tensor %q", from)
	}
	data = slices.Clone(data)
	copy(data[at:], to)
	return data
}

// roomy is a backend on a machine with a given memory.
type roomy struct {
	*host.Backend
	bytes int64
}

func (r roomy) Info() compute.Info {
	info := r.Backend.Info()
	info.MemoryBytes = r.bytes
	return info
}

// The memory of a head, its pass and its cache is planned before anything is loaded. Where it is not
// enough for model and head, the model is loaded alone. A draft model is always loaded alone.
func TestMemoryOfAHeadIsPlanned(t *testing.T) {
	backend := newBackend(t, 1)
	load := func(bytes int, head bool) (*model.Head, string, error) {
		o := model.Options{MaxTokens: 128, MaxRows: 32, PrefillRows: 128, Head: head}
		m, err := model.Load(t.Context(), roomy{backend, int64(bytes)}, (&fixture{name: "glm4moe-mtp"}).file(t), o, nil)
		if err != nil {
			if !errors.Is(err, compute.ErrOutOfMemory) {
				t.Fatal(err)
			}
			return nil, "", err
		}
		h, why, err := m.Head()
		if err != nil {
			t.Fatal(err)
		}
		return h, why, nil
	}
	const most = 16 << 20
	alone := sort.Search(most, func(bytes int) bool { _, _, err := load(bytes, true); return err == nil })
	both := sort.Search(most, func(bytes int) bool { head, _, _ := load(bytes, true); return head != nil })
	if alone >= both || both == most {
		t.Fatalf("%d bytes are enough for the model, %d for model and head", alone, both)
	}
	if head, why, err := load(both-1, true); head != nil || !strings.Contains(why, "weights need") || err != nil {
		t.Errorf("with a byte too few: head %v, %q, %v", head, why, err)
	}
	if head, why, err := load(both, false); head != nil || why != "" || err != nil {
		t.Errorf("as a draft model: head %v, %q, %v", head, why, err)
	}
	if _, _, err := load(alone-1, false); err == nil {
		t.Error("the model alone takes less memory without Head than beside a head that was left out")
	}
}
