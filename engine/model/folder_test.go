package model_test

import (
	"archive/zip"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// folder unpacks the model as the library transformers saved it; "" if there is no such fixture.
func (f *fixture) folder(t testing.TB) string {
	t.Helper()
	z, err := zip.OpenReader("testdata/architectures/" + f.name + ".zip")
	if err != nil {
		return ""
	}
	defer z.Close()
	folder := t.TempDir()
	for _, packed := range z.File {
		r, err := packed.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, packed.Name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func openFolder(t testing.TB, path string) *weights.File {
	t.Helper()
	file, err := model.Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A folder that transformers saved is read as the file that llama.cpp's converter makes of it: the
// same numbers in the same tensors, the same vocabulary, and the logits of transformers.
func TestEveryFolderIsTheFile(t *testing.T) {
	backend := newBackend(t, 1)
	seen := map[string]bool{}
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			path := f.folder(t)
			if path == "" {
				if !slices.Contains(withoutFolders(), f.name) {
					t.Fatal("there is no folder of this model: run make oracle")
				}
				return
			}
			folder, file := openFolder(t, path), f.file(t)
			seen[folder.Architecture()] = true
			sameTensors(t, folder, file)
			a, errA := folder.TokenizerSpec()
			b, errB := file.TokenizerSpec()
			a.Ends = nil // a GGUF file has no list of them
			if errA != nil || errB != nil || !slices.Equal(a.Tokens, b.Tokens) || !slices.Equal(a.Types, b.Types) || !slices.Equal(a.Merges, b.Merges) ||
				a.Model != b.Model || a.Pre != b.Pre && b.Pre != "gpt-2" || a.BOS != b.BOS || a.EOS != b.EOS {
				t.Errorf("the vocabulary is %+v (%v), in the file %+v (%v)", a, errA, b, errB)
			}
			for _, prompt := range f.prompts {
				m, err := model.Load(context.Background(), backend, openFolder(t, path), model.Options{MaxTokens: len(prompt.IDs), MaxRows: len(prompt.IDs)}, nil)
				if err != nil {
					t.Fatal(err)
				}
				f.compare(t, m, prompt)
			}
		})
	}
	for _, name := range model.Architectures() {
		if !seen[name] && !slices.Contains(withoutFolders(), name) {
			t.Errorf("no folder of the architecture %s was read", name)
		}
	}
}

// withoutFolders lists the families that transformers does not have, and those whose folders are not
// read: the hybrids, the mixtures, which have a tensor for each expert, Gemma 4 and DeepSeek.
func withoutFolders() []string {
	return []string{"internlm2", "qwen", "muse-glimmer", "mixtral", "qwen2moe", "qwen3moe", "granitemoe", "ernie4_5-moe", "glm4moe", "gpt-oss", "qwen35", "qwen35-mtp",
		"glm4moe-mtp", "qwen35moe", "qwen35moe-mtp", "qwen3next", "qwen3next-mtp", "lfm2", "lfm2moe", "granitehybrid",
		"granitehybrid-moe", "falcon-h1", "falcon-h1-norms", "nemotron_h", "nemotron_h_moe", "nemotron_h_moe-narrow", "nemotron_h_moe-mtp", "minimax-m2", "qwen3vlmoe", "mistral4",
		"gemma4", "gemma4-shared", "gemma4-embeddings", "gemma4-experts", "deepseek2", "deepseek2-flash"}
}

// sameTensors compares the numbers of all tensors.
func sameTensors(t *testing.T, folder, file *weights.File) {
	t.Helper()
	if a, b := len(folder.Tensors()), len(file.Tensors()); a != b {
		t.Errorf("%d tensors, the file has %d", a, b)
	}
	for _, want := range file.Tensors() {
		a, found, err := folder.Tensor(want.Name)
		b, _, _ := file.Tensor(want.Name)
		if !found || err != nil || a.Rows*a.Cols != b.Rows*b.Cols || a.Cols != b.Cols {
			t.Errorf("%s is %d × %d (%v, %v), in the file %d × %d", want.Name, a.Rows, a.Cols, found, err, b.Rows, b.Cols)
			continue
		}
		x, errX := gguf.Decode(a.Type, a.Data)
		y, errY := gguf.Decode(b.Type, b.Data)
		if errX != nil || errY != nil {
			t.Fatal(errX, errY)
		}
		for i := range y {
			// The divisors of Llama 3.1 are computed in float64 here, and in float32 by the converter.
			if diff := math.Abs(float64(x[i] - y[i])); diff > 0 && !(want.Name == "rope_freqs.weight" && diff < 1e-5*float64(y[i])) {
				t.Errorf("%s: number %d is %v, in the file %v", want.Name, i, x[i], y[i])
				break
			}
		}
	}
}
