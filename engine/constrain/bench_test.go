package constrain_test

import (
	"math/rand/v2"
	"testing"

	"specula/assets"
	"specula/engine/constrain"
	"specula/engine/weights"
	"specula/tokenizer"
)

// demo is the vocabulary of the embedded target.
func demo(b *testing.B) *constrain.Vocabulary {
	b.Helper()
	file, err := weights.Parse("target", assets.Target())
	if err != nil {
		b.Fatal(err)
	}
	spec, err := file.TokenizerSpec()
	if err != nil {
		b.Fatal(err)
	}
	t, err := tokenizer.New(spec)
	if err != nil {
		b.Fatal(err)
	}
	return constrain.NewVocabulary(t.VocabSize(), t.Bytes, t.StopTokens(), t.DropsFirstSpace())
}

// large is as large as current vocabularies. Its tokens have up to 16 letters.
func large() *constrain.Vocabulary {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []byte("eeeetttaaoooiinnsshhrrddlcumwfgypbvkjxqz      ETA0123456789.,:;-_\"'(){}[]/\\\n\xc3\xa9\xe6\x97\xa5")
	texts := [][]byte{nil}
	for b := range 256 {
		texts = append(texts, []byte{byte(b)})
	}
	for len(texts) < 152_000 {
		text := make([]byte, 2+min(rng.IntN(8), rng.IntN(16)))
		for i := range text {
			text[i] = letters[rng.IntN(len(letters))]
		}
		texts = append(texts, text)
	}
	return constrain.NewVocabulary(len(texts), func(id int32) []byte { return texts[id] }, []int32{0}, false)
}

const benchSchema = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name","age"]}`

func BenchmarkMask(b *testing.B) {
	for _, vocabulary := range []struct {
		name string
		make func() *constrain.Vocabulary
	}{{"demo4k", func() *constrain.Vocabulary { return demo(b) }}, {"152k", large}} {
		v := vocabulary.make()
		for _, at := range []struct{ name, text string }{{"start", ""}, {"string", `{"name":"`}, {"number", `{"name":"","age":`}} {
			for _, kind := range []string{"new", "kept", "closing"} {
				b.Run(vocabulary.name+"/"+at.name+"/"+kind, func(b *testing.B) { benchmarkShape(b, v, at.text, kind) })
			}
		}
	}
}

// benchmarkShape shapes a row in a state whose mask is new, or cached, or cached with its closings
// near the end of a reply.
func benchmarkShape(b *testing.B, v *constrain.Vocabulary, text, kind string) {
	c, err := constrain.Schema(b.Context(), benchSchema)
	if err != nil {
		b.Fatal(err)
	}
	row := make([]float32, v.Size())
	s := shaperAfter(b, c, v, text)
	for b.Loop() {
		if kind == "new" {
			b.StopTimer()
			s = shaperAfter(b, c, v, text)
			b.StartTimer()
		}
		if kind == "closing" {
			shortest, err := s.Shortest()
			if err != nil {
				b.Fatal(err)
			}
			s.Bound(b.Context(), len(text)+shortest+1)
		}
		if err := s.Shape(row); err != nil {
			b.Fatal(err)
		}
	}
}

func shaperAfter(b *testing.B, c *constrain.Constraint, v *constrain.Vocabulary, text string) *constrain.Shaper {
	b.Helper()
	s, err := constrain.NewShaper(b.Context(), c, v)
	if err != nil {
		b.Fatal(err)
	}
	for _, letter := range []byte(text) {
		s.Push(v.Spelled(letter))
	}
	return s
}

func BenchmarkVocabulary(b *testing.B) {
	for b.Loop() {
		large()
	}
}
