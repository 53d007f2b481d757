package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/model/modeltest"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// A fixture is a tiny model of a family, in the file that llama.cpp's converter makes of it, with what the
// library transformers computes; `make oracle` makes both.
type fixture struct {
	name    string
	prompts []fixturePrompt
}

type fixturePrompt struct {
	IDs    []int32     `json:"ids"`
	Rows   []int       `json:"rows"`
	Logits [][]float64 `json:"logits"` // of these rows, computed by transformers in float64
	// Of a model with a head of MTP or a drafter: what it drafts after the ids, and the logits of each drafted token.
	Drafted []int32     `json:"drafted"`
	Guesses [][]float64 `json:"guesses"`
}

func fixtures(t testing.TB) []fixture { return fixturesIn(t, "testdata/architectures") }

func fixturesIn(t testing.TB, folder string) (all []fixture) {
	t.Helper()
	paths, err := filepath.Glob(folder + "/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, path := range paths {
		f := fixture{name: strings.TrimSuffix(filepath.Base(path), ".json")}
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &f.prompts)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// file unpacks the model.
func (f *fixture) file(t testing.TB) *weights.File {
	t.Helper()
	file, err := weights.Parse(f.name, f.data(t))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func (f *fixture) data(t testing.TB) []byte {
	t.Helper()
	return modeltest.Unpack(t, "testdata/architectures/"+f.name+".gguf.gz")
}

func (f *fixture) open(t testing.TB, backend compute.Backend, o model.Options) *model.Model {
	t.Helper()
	m, err := model.Load(context.Background(), backend, f.file(t), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Every family computes what transformers computes, in prompts shorter and longer than the windows of keys, and
// than the context before its positions were stretched.
func TestEveryArchitectureAgainstTransformers(t *testing.T) {
	backend := newBackend(t, 1)
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			worst := 0.0
			for _, prompt := range f.prompts {
				m := f.open(t, backend, model.Options{MaxTokens: len(prompt.IDs), MaxRows: len(prompt.IDs)})
				worst = max(worst, f.compare(t, m, prompt))
			}
			t.Logf("logits differ by at most %.1g", worst)
		})
	}
}

// tolerance is how far a logit may be from that of transformers. The tiny model of qwen3next amplifies rounding
// errors: where the library computes in float32 instead of float64, the logits move by 6e-4.
func (f *fixture) tolerance() float64 {
	if strings.HasPrefix(f.name, "qwen3next") {
		return 3e-4
	}
	return 5e-5
}

// compare computes a prompt, and returns by how much the logits differ at most from those of
// transformers.
func (f *fixture) compare(t *testing.T, m *model.Model, prompt fixturePrompt) (worst float64) {
	t.Helper()
	logits, err := m.Forward(context.Background(), newCache(t, m), prompt.IDs)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float32, m.Config().Vocab)
	for i, want := range prompt.Logits {
		if err := logits.Row(prompt.Rows[i], row); err != nil {
			t.Fatal(err)
		}
		for v := range row {
			diff := math.Abs(float64(row[v]) - want[v])
			if worst = max(worst, diff); !(diff <= f.tolerance()) {
				t.Fatalf("%d tokens, row %d: logit %d is %v, transformers has %v", len(prompt.IDs), prompt.Rows[i], v, row[v], want[v])
			}
		}
	}
	return worst
}

func TestEveryArchitectureHasAFixture(t *testing.T) {
	have := map[string]bool{}
	for _, f := range fixtures(t) {
		have[f.file(t).Architecture()] = true
	}
	for _, name := range model.Architectures() {
		if !have[name] {
			t.Errorf("testdata/architectures lacks a model of the architecture %s: add it to testdata/oracle/architectures.py", name)
		}
	}
}

// Verification gives the bits of decoding in every family, with drafts rejected on the way, before
// and after the first key that a window leaves out. Each number of rows is tried with rejections in one
// type of cache and without in the other. With caches in F16, two threads compute.
func TestEveryArchitectureVerifiesAsItDecodes(t *testing.T) {
	backends := []compute.Backend{newBackend(t, 1), newBackend(t, 2)}
	for _, f := range fixtures(t) {
		for turn, kept := range []compute.DType{compute.F32, compute.F16} {
			t.Run(fmt.Sprint(f.name, "/", gguf.TypeName(kept)), func(t *testing.T) {
				allowed, _, _ := f.file(t).Uint(f.file(t).Architecture() + ".context_length")
				tokens := min(3*mostRows, int(allowed))
				most := min(mostRows, (tokens-5)/2) // the prompt, the ids, and a pass after them fit
				m := f.open(t, backends[turn], model.Options{MaxTokens: tokens, MaxRows: most, CacheType: kept})
				cache, ids := newCache(t, m), randomIDs(most, m.Config().Vocab, 7)
				if _, err := m.Prefill(context.Background(), cache, randomIDs(5, m.Config().Vocab, 8), nil); err != nil {
					t.Fatal(err)
				}
				checkpoint(t, cache)
				want := runSteps(t, m, cache, ids, 1)
				counts := rowCounts()
				if _, ok := cache.(compute.Partial); ok { // where a ring or a state is cut depends on the number of rows
					counts = nil
					for rows := 2; rows <= most; rows++ {
						counts = append(counts, rows)
					}
				}
				for i, rows := range counts {
					if rows > most {
						break
					}
					run, how := inTurns(turn + i)
					run(t, m, cache, ids, rows).same(t, fmt.Sprintf("%d rows%s", rows, how), want)
				}
			})
		}
	}
}
