package random

import (
	"fmt"

	"specula/engine/weights/gguf"
)

// The kinds of tokens, with GGUF's numbers.
const (
	normal  int32 = 1
	control int32 = 3
	unused  int32 = 5
)

// SetVocabulary sets a byte-level BPE vocabulary that can encode any text: the 256 bytes, every
// pair of lower-case letters with its merge, two control tokens, and unused tokens up to size.
func SetVocabulary(b *gguf.Builder, size int) {
	var tokens, merges []string
	for c := range 256 {
		tokens = append(tokens, string(byteRune(byte(c))))
	}
	for first := 'a'; first <= 'z'; first++ {
		for second := 'a'; second <= 'z'; second++ {
			tokens = append(tokens, string([]rune{first, second}))
			merges = append(merges, string([]rune{first, ' ', second}))
		}
	}
	kinds := make([]int32, size)
	for i := range kinds {
		kinds[i] = normal
	}
	end := len(tokens)
	tokens = append(tokens, "<|endoftext|>", "<|im_end|>")
	kinds[end], kinds[end+1] = control, control
	for i := len(tokens); i < size; i++ {
		tokens = append(tokens, fmt.Sprintf("[unused%d]", i))
		kinds[i] = unused
	}
	b.Set("tokenizer.ggml.model", "gpt2").Set("tokenizer.ggml.pre", "qwen2").
		Set("tokenizer.ggml.tokens", tokens).Set("tokenizer.ggml.token_type", kinds).Set("tokenizer.ggml.merges", merges).
		Set("tokenizer.ggml.bos_token_id", uint32(end)).Set("tokenizer.ggml.padding_token_id", uint32(end)).
		Set("tokenizer.ggml.eos_token_id", uint32(end+1)).Set("tokenizer.ggml.add_bos_token", false)
}

// byteRune returns the printable character that stands for a byte in byte-level BPE: the byte
// itself if it prints, otherwise a character from U+0100 on, in the order of the bytes. Source:
// bytes_to_unicode of GPT-2's encoder.py.
func byteRune(c byte) rune {
	prints := func(c int) bool { return '!' <= c && c <= '~' || 0xa1 <= c && c <= 0xac || 0xae <= c }
	if prints(int(c)) {
		return rune(c)
	}
	shifted := rune(0x100)
	for other := range int(c) {
		if !prints(other) {
			shifted++
		}
	}
	return shifted
}
