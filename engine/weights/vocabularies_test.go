package weights

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"specula/tokenizer"
)

// TestVocabulariesOfLlamaCpp encodes the texts beside the vocabularies in llama.cpp's source as
// Hugging Face's tokenizers did. VOCABULARIES names the folder: "make real-models" fetches it.
func TestVocabulariesOfLlamaCpp(t *testing.T) {
	folder := os.Getenv("VOCABULARIES")
	if folder == "" {
		t.Skip("VOCABULARIES names no folder of ggml-vocab-*.gguf: run make real-models")
	}
	files, err := filepath.Glob(filepath.Join(folder, "ggml-vocab-*.gguf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vocabularies in %s: %v", folder, err)
	}
	encoders := []string{"bert-bge", "nomic-bert-moe"} // not decoders
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "ggml-vocab-"), ".gguf")
		t.Run(name, func(t *testing.T) {
			f, err := OpenHeader(context.Background(), file)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := f.TokenizerSpec()
			if slices.Contains(encoders, name) {
				if err == nil {
					t.Error("the vocabulary of an encoder was accepted")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tok, err := tokenizer.New(spec)
			if err != nil {
				t.Fatal(err)
			}
			texts, ids := lines(t, file+".inp", "\n__ggml_vocab_test__\n"), lines(t, file+".out", "\n")
			for i, text := range texts {
				var want []int32
				for _, word := range strings.Fields(ids[i]) {
					id, err := strconv.Atoi(word)
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, int32(id))
				}
				if got := tok.Encode(text); !slices.Equal(got, want) {
					t.Errorf("%q:\n got %v\nwant %v", text, got, want)
				}
			}
			t.Logf("%d texts", len(texts))
		})
	}
}

// lines reads a file and splits it at separator. It returns nil if there is no such file: some
// vocabularies come without texts.
func lines(t *testing.T, file, separator string) []string {
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), separator)
}
