package weights_test

import (
	"context"
	"testing"

	"specula/engine/weights"
)

func TestOpenRealFiles(t *testing.T) {
	for _, path := range []string{"pair/target.gguf", "pair/draft.gguf", "reference/demo-target-f16.gguf", "reference/demo-draft-f16.gguf"} {
		f, err := weights.Open(context.Background(), "../../assets/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f.Architecture() != "qwen3" || f.Format() != "GGUF v3" {
			t.Errorf("%s: got %s %s", path, f.Format(), f.Architecture())
		}
	}
}

func TestDump(t *testing.T) {
	f, err := weights.OpenHeader(context.Background(), "../../assets/pair/draft.gguf")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", weights.Describe(f))
	s, err := f.TokenizerSpec()
	t.Log(len(s.Tokens), len(s.Merges), s.Types[:3], s.BOS, s.EOS, s.PAD, s.AddBOS, err)
	_, _, err = f.Tensor("output_norm.weight")
	t.Log(err)
}
