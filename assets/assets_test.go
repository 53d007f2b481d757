package assets

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestPairIsGGUF(t *testing.T) {
	for name, data := range map[string][]byte{"target": Target(), "draft": Draft()} {
		if !bytes.HasPrefix(data, []byte("GGUF")) {
			t.Errorf("the %s does not begin with GGUF", name)
		}
	}
	if len(Draft()) >= len(Target()) {
		t.Errorf("the draft (%d bytes) is not smaller than the target (%d)", len(Draft()), len(Target()))
	}
}

// The licence of the training text asks for the notice to travel with the weights.
func TestNoticeIsInTheRepositorysNotice(t *testing.T) {
	pair, err := os.ReadFile("pair/NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile("../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(whole, bytes.TrimSpace(pair)) {
		t.Error("NOTICE does not contain assets/pair/NOTICE word for word")
	}
}

func TestPromptsAreFiftyAndDistinct(t *testing.T) {
	t.Run("new", func(t *testing.T) { testPrompts(t, Prompts()) })
	t.Run("trained", func(t *testing.T) { testPrompts(t, TrainedPrompts()) })
}

func testPrompts(t *testing.T, list []string) {
	if len(list) != 50 {
		t.Errorf("%d prompts, the benchmark's default asks for 50", len(list))
	}
	for i, p := range list {
		if slices.Contains(list[:i], p) {
			t.Errorf("the prompt %q is there twice", p)
		}
		if strings.HasPrefix(p, "#") || p != strings.TrimSpace(p) || p == "" {
			t.Errorf("not a prompt: %q", p)
		}
	}
}

func ExampleParsePrompts() {
	fmt.Printf("%q\n", ParsePrompts("# greetings\n\nhello\n  good morning \r\n"))
	// Output: ["hello" "good morning"]
}
