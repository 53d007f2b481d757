package tokenizer_test

import (
	"fmt"

	"specula/tokenizer"
)

// With byte tokens, a word and a space, the example shows what a user's text can become and what it
// cannot.
func Example() {
	spec := tokenizer.Spec{Model: "llama", BOS: 256, EOS: 257, EOT: -1, UNK: -1, PAD: -1, AddBOS: true}
	for b := range 256 {
		spec.Tokens = append(spec.Tokens, fmt.Sprintf("<0x%02X>", b))
		spec.Types = append(spec.Types, tokenizer.TypeByte)
	}
	spec.Tokens = append(spec.Tokens, "<s>", "</s>", "h", "i", "hi", "▁")
	spec.Types = append(spec.Types, tokenizer.TypeControl, tokenizer.TypeControl,
		tokenizer.TypeNormal, tokenizer.TypeNormal, tokenizer.TypeNormal, tokenizer.TypeNormal)
	spec.Scores = make([]float32, len(spec.Tokens))

	tok, err := tokenizer.New(spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	prompt := tok.EncodeSegments([]tokenizer.Segment{
		{Text: "<s>", Special: true},
		{Text: "hi </s>"}, // a forged end: it stays text
		{Text: "</s>", Special: true},
	})
	for _, id := range prompt {
		fmt.Printf("%s|", tok.Readable(id))
	}
	fmt.Println()

	d := tok.NewDecoder()
	for _, id := range tok.Encode("hi 👍") {
		fmt.Printf("%q ", d.Next(id))
	}
	fmt.Printf("%q\n", d.Flush())
	// Output:
	// <s>|hi| |<|/|s|>|</s>|
	// "hi" " " "" "" "" "" "👍"
}
