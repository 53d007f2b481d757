package tokenizer

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// preTokenizer cuts a text into words; BPE merges inside words only.
type preTokenizer struct {
	names string // as in tokenizer.ggml.pre, separated by spaces
	// expressions cut the text. Each one cuts the words that the earlier ones left, into its matches
	// and the text between them.
	expressions []string
	wholeWords  bool // a word that is itself a token becomes this token, without merges
	addBOS      bool // a prompt begins with BOS unless the file says otherwise
}

// The expressions that several models share.
const (
	contractions = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	gpt2         = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|` + lastSpaces
	lastSpaces   = `\s+(?!\S)|\s+` // leaves the last of several spaces to the word after them
	newlines     = `\s*[\r\n]+|` + lastSpaces
	llama3       = contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|` + newlines
	qwen2        = contractions + `|` + withoutContractions
	// withoutContractions is qwen2 without the rule for 's, 't and the like.
	withoutContractions = `[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|` + newlines
	// camelCase matches a word up to the first capital letter that follows a small one.
	camelCase = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
	capitals  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
	slashes   = ` ?[^\s\p{L}\p{N}]+[\r\n/]*|` + newlines
	gpt4o     = camelCase + contractions + `?|` + capitals + contractions + `?|\p{N}{1,3}|` + slashes
	digits3   = `\p{N}{1,3}`
	fromRight = `\d{1,3}(?=(?:\d{3})*\b)` // groups of three digits, counted from the right
	chinese   = `[\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+`
	deepseek3 = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|" + `[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+`
	bloom     = ` ?[^(\s|.,!?…。，、।۔،)]+`
)

// preTokenizers has one entry for each combination of expressions, wholeWords and addBOS. Names and grouping
// are llama.cpp's. The expressions are those of the training; some of llama.cpp's only approximate them.
var preTokenizers = sync.OnceValue(func() []preTokenizer {
	return []preTokenizer{
		{expressions: []string{gpt2}, names: "gpt-2 gpt2 phi-2 jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe " +
			"modern-bert gigachat a.x-4.0 mellum exaone4 mpt olmo jais trillion granite-docling"},
		{expressions: []string{`\p{N}`, gpt2}, names: "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2"},
		{expressions: []string{qwen2}, names: "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2"},
		{expressions: []string{llama3}, wholeWords: true, addBOS: true,
			names: "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano"},
		{expressions: []string{llama3}, wholeWords: true, names: "glm4 glm5"},
		{expressions: []string{llama3}, names: "dbrx smaug-bpe chatglm-bpe"},
		{names: "qwen35", expressions: []string{
			contractions + `|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|` + newlines}},
		{names: "tekken", wholeWords: true, addBOS: true, expressions: []string{camelCase + `|` + capitals + `|\p{N}|` + slashes}},
		{expressions: []string{gpt4o}, names: "gpt-4o llama4 kanana2 talkie minimax-m2"},
		{expressions: []string{gpt4o}, wholeWords: true, names: "granite-embed-multi-97m"},
		{expressions: []string{fromRight, gpt4o}, names: "tiny_aya cohere2moe"},
		{names: "deepseek-v3 hunyuan-dense joyai-llm hy_v4", expressions: []string{digits3, chinese, deepseek3 + `[\r\n]*|` + newlines}},
		{names: "spark2_5", expressions: []string{digits3, chinese, deepseek3 + `|[\r\n]|` + lastSpaces, `\p{N}`}},
		{names: "afmoe", expressions: []string{`[^\p{N}]*\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))`,
			`[\x{4e00}-\x{9fff}\x{3400}-\x{4dbf}\x{8c48}-\x{faff}\x{3040}-\x{30ff}\x{ff65}-\x{ff9f}\x{2f00}-\x{2fdf}\x{e40}-\x{eff}` +
				`\x{1780}-\x{17ff}\x{1000}-\x{109f}\x{aa60}-\x{aa7f}\x{a9e0}-\x{a9ff}\x{ac00}-\x{d7af}\x{1100}-\x{11ff}]+`,
			deepseek3 + `[\r\n]*|` + newlines}},
		{names: "deepseek-llm", expressions: []string{`[\r\n]`,
			// letters with a case, without those that the training left out
			`\s?[\p{Lu}\p{Ll}\p{Lt}&&[^\x{560}-\x{588}\x{10c7}-\x{10ff}\x{1c80}-\x{1c88}\x{2d00}-\x{2d2d}` +
				`\x{a790}-\x{ab68}\x{10570}-\x{105bc}\x{16e40}-\x{1df2a}]]+`,
			`\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+`, `\s+$`,
			`[\x{800}-\x{9fa5}\x{ac00}-\x{d7ff}]+`, `\p{N}+`}},
		{names: "deepseek-coder", expressions: []string{`[\r\n]`, `\s?\p{L}+`, `\s?\p{P}+`, `[\x{800}-\x{9fa5}\x{ac00}-\x{d7ff}]+`, `\p{N}`}},
		{names: "falcon", expressions: []string{"[\\p{P}$+<=>^~|`]+", gpt2, `[0-9][0-9][0-9]`}},
		{names: "seed-coder", expressions: []string{
			contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|` + newlines}},
		{names: "bailingmoe bailingmoe2 llada-moe", expressions: []string{
			contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|` + lastSpaces}},
		{names: "minicpm5", wholeWords: true, expressions: []string{digits3,
			contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|` + newlines}},
		{names: "ufakzeka", expressions: []string{withoutContractions}},
		{names: "laguna", expressions: []string{`[^\n]+|\n+`, qwen2}},
		{names: "exaone-moe", expressions: []string{
			contractions + `|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|` + lastSpaces}},
		{names: "kimi-k2", expressions: []string{`\p{Han}+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*` +
			`[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+` + contractions + `?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+` +
			`[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*` + contractions + `?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|` + newlines}},
		{names: "youtu", wholeWords: true, expressions: []string{
			`[\x{ac00}-\x{d7a3}\x{3131}-\x{318e}]+|[\x{ff01}\x{2026}\x{201c}\x{201d}\x{2018}\x{2019}\x{2014}\x{ff1a}\x{ff1b}\x{ff0c}` +
				`\x{3001}-\x{303f}\x{fe30}-\x{fe4f}]+|[\x{3105}-\x{312f}]+|` + chinese,
			camelCase + contractions + `?|` + capitals + contractions + `?|\p{N}|` + slashes}},
		{names: "superbpe", expressions: []string{`\p{N}+`, `\d{3}(?:(?=(?:\d{3})+(?!\d))|(?!\d)\D*)`}},
		{expressions: []string{bloom}, names: "poro-chat bloom gpt3-finnish"},
		{expressions: []string{bloom, `\p{N}`}, names: "viking"},
		{names: "jais-2", expressions: []string{contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|` +
			`\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s`}},
		{names: "gemma4", addBOS: true, expressions: []string{`[^\n]+|\n+`}},
		{names: "sarvam-moe", expressions: []string{`[^\n]+|\n+`}},
		{names: "chameleon", addBOS: true, expressions: []string{`<sentinel:[0-9]+>`, `IMGIMG[A-I]{1,4}Z`, "[\t\n]|    |  ", `\p{N}`,
			"[\\p{P}!-/:-@\\[-`{-~]", gpt2}},
	}
})

// PreTokenizers lists the names that New accepts in Spec.Pre, as in tokenizer.ggml.pre. New also
// accepts "" and "default", which name none; see Spec.AssumedPre.
func PreTokenizers() []string {
	var names []string
	for _, p := range preTokenizers() {
		names = append(names, strings.Fields(p.names)...)
	}
	return names
}

// AssumedPre is the pre-tokenizer that New assumes because the file names none; "" if the file
// names one, or needs none. A wrong assumption gives the model other tokens than it was trained
// with.
func (s Spec) AssumedPre() string {
	if s.Model == "gpt2" && (s.Pre == "" || s.Pre == "default") {
		return "gpt-2"
	}
	return ""
}

// PrependsBOS reports whether prompts begin with BOS if the file does not say it. With a llama
// vocabulary they do. With other vocabularies the pre-tokenizer decides, as in llama.cpp, because
// converters rely on that.
func (s Spec) PrependsBOS() bool {
	if s.Model == "llama" {
		return true
	}
	pre, err := choosePreTokenizer(s)
	return err == nil && pre.addBOS
}

func choosePreTokenizer(s Spec) (preTokenizer, error) {
	name := cmp.Or(s.AssumedPre(), s.Pre)
	if s.Model == "gemma4" {
		name = s.Model // whatever pre-tokenizer the file names, as in llama.cpp
	}
	for _, p := range preTokenizers() {
		if slices.Contains(strings.Fields(p.names), name) {
			return p, nil
		}
	}
	return preTokenizer{}, fieldError("pre", "is %.64q, a pre-tokenizer that is not supported: docs/models.md lists the %d that are",
		name, len(PreTokenizers()))
}

// cutter is a preTokenizer, compiled.
type cutter []pattern

func (p preTokenizer) compile() cutter {
	var c cutter
	for _, expression := range p.expressions {
		c = append(c, mustCompile(expression))
	}
	return c
}

// words calls yield with each word of a text.
func (c cutter) words(text string, yield func(word string)) {
	if text == "" {
		return
	}
	if len(c) == 0 {
		yield(text)
		return
	}
	at := 0
	for start, end := c[0].find(text, 0); start >= 0; start, end = c[0].find(text, at) {
		c[1:].words(text[at:start], yield)
		c[1:].words(text[start:end], yield)
		at = end
	}
	c[1:].words(text[at:], yield)
}
