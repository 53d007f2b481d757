package folder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/tokenizer"
)

const (
	tokenizerName   = "tokenizer.json"
	tokenizerConfig = "tokenizer_config.json"
	generationName  = "generation_config.json"
)

// tokenizerFile is tokenizer.json, as the library tokenizers writes it.
type tokenizerFile struct {
	Model struct {
		Type         string          `json:"type"`
		Vocab        json.RawMessage `json:"vocab"`
		Merges       merges          `json:"merges"`
		ByteFallback bool            `json:"byte_fallback"`
		WholeWords   bool            `json:"ignore_merges"`
		Unknown      string          `json:"unk_token"`
	} `json:"model"`
	Added         []addedToken `json:"added_tokens"`
	Normalizer    component    `json:"normalizer"`
	PreTokenizer  component    `json:"pre_tokenizer"`
	PostProcessor component    `json:"post_processor"`
}

type addedToken struct {
	ID      int64  `json:"id"`
	Content string `json:"content"`
	Special bool   `json:"special"`
}

// merges are written as "left right", or in newer files as ["left", "right"].
type merges [][2]string

func (m *merges) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*[][2]string)(m)) == nil {
		return nil
	}
	var lines []string
	if err := json.Unmarshal(data, &lines); err != nil {
		return err
	}
	*m = make(merges, len(lines))
	for i, line := range lines {
		cut := strings.IndexByte(line[min(1, len(line)):], ' ') + 1
		if cut == 0 {
			return fmt.Errorf("merge %d is %.64q; needed are two tokens with a space between", i, line)
		}
		(*m)[i] = [2]string{line[:cut], line[cut+1:]}
	}
	return nil
}

// vocabulary collects the values of the metadata tokenizer.ggml.*.
type vocabulary struct {
	path   string // path of tokenizer.json
	tokens []string
	types  []int32
	ids    map[string]int32
}

func (v *vocabulary) refuse(field, got, allowed string) error {
	return fmt.Errorf("reading %q: %s: got %s, allowed %s: %w", v.path, field, got, allowed, weights.ErrMalformed)
}

// Vocabulary writes the vocabulary and the chat template into the metadata of a GGUF file. The
// vocabulary gets as many tokens as the embedding table has rows. It leaves out a token without a row.
// A row without a token gets a token that is never written.
func (f *Folder) Vocabulary(ctx context.Context, metadata *gguf.Builder, rows int) error {
	var file tokenizerFile
	err := f.decode(ctx, tokenizerName, maxTokenizerBytes, &file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the folder %q: %s is missing: download it, or a GGUF file (a %s alone is not read)", f.path, tokenizerName, "tokenizer.model")
	}
	if err != nil {
		return err
	}
	v := &vocabulary{path: filepath.Join(f.path, tokenizerName), ids: map[string]int32{}}
	if kind := file.Model.Type; kind != "BPE" && (kind != "" || len(file.Model.Merges) == 0) {
		return v.refuse("model.type", fmt.Sprintf("%.64q", kind), "BPE")
	}
	if err := v.fill(&file, rows); err != nil {
		return err
	}
	if err := v.write(metadata, &file); err != nil {
		return err
	}
	return f.special(ctx, metadata, &file, v)
}

// fill puts each token of the file at the index of its id.
func (v *vocabulary) fill(file *tokenizerFile, rows int) error {
	var normal map[string]int64
	if err := json.Unmarshal(file.Model.Vocab, &normal); err != nil {
		return v.refuse("model.vocab", err.Error(), "an object that gives each token its number")
	}
	v.tokens, v.types = make([]string, rows), make([]int32, rows)
	put := func(text string, id int64, kind int32) error {
		switch {
		case id < 0:
			return v.refuse(fmt.Sprintf("token %.64q", text), fmt.Sprintf("number %d", id), "0 or more")
		case id >= int64(rows):
			return nil
		case v.types[id] != 0 && v.tokens[id] != text:
			return v.refuse(fmt.Sprintf("token %.64q", text), fmt.Sprintf("number %d, that of %.64q", id, v.tokens[id]), "a number of its own")
		}
		v.tokens[id], v.types[id] = text, kind
		v.ids[text] = int32(id)
		return nil
	}
	for _, text := range slices.Sorted(maps.Keys(normal)) {
		if err := put(text, normal[text], v.kindOf(text, file)); err != nil {
			return err
		}
	}
	for _, t := range file.Added {
		kind := tokenizer.TypeUserDefined
		if t.Special || looksSpecial(t.Content) {
			kind = tokenizer.TypeControl
		}
		if t.Content == file.Model.Unknown && !file.byteLevel() {
			kind = tokenizer.TypeUnknown
		}
		if err := put(t.Content, t.ID, kind); err != nil {
			return err
		}
		if kind == tokenizer.TypeUserDefined && t.ID < int64(rows) {
			v.tokens[t.ID] = strings.ReplaceAll(t.Content, "▁", " ")
		}
	}
	for i := range v.tokens {
		if v.types[i] == 0 {
			v.tokens[i], v.types[i] = fmt.Sprintf("[PAD%d]", i), tokenizer.TypeUnused
		}
	}
	return nil
}

// kindOf returns the kind of a token that is in the model's vocabulary.
func (v *vocabulary) kindOf(text string, file *tokenizerFile) int32 {
	switch {
	case file.byteLevel():
		return tokenizer.TypeNormal
	case text == file.Model.Unknown:
		return tokenizer.TypeUnknown
	case file.Model.ByteFallback && len(text) == 6 && strings.HasPrefix(text, "<0x") && text[5] == '>':
		return tokenizer.TypeByte
	}
	return tokenizer.TypeNormal
}

// looksSpecial recognises control tokens that the file does not mark as special, by llama.cpp's rule.
func looksSpecial(text string) bool {
	for _, ends := range [][2]string{{"<|", "|>"}, {"<｜", "｜>"}, {"<unused", ">"}} {
		if strings.HasPrefix(text, ends[0]) && strings.HasSuffix(text, ends[1]) {
			return true
		}
	}
	return slices.Contains([]string{"<pad>", "<mask>", "<2mass>", "[@BOS@]"}, text)
}

// write writes the tokens, the merges and the name of the pre-tokenizer to the metadata.
func (v *vocabulary) write(metadata *gguf.Builder, file *tokenizerFile) error {
	metadata.Set("tokenizer.ggml.tokens", v.tokens)
	metadata.Set("tokenizer.ggml.token_type", v.types)
	if !file.byteLevel() {
		metadata.Set("tokenizer.ggml.model", "llama")
		metadata.Set("tokenizer.ggml.scores", v.scores(file))
		metadata.Set("tokenizer.ggml.add_space_prefix", file.prependsSpace())
		return nil
	}
	expressions, err := file.PreTokenizer.expressions()
	if err != nil {
		return v.refuse("pre_tokenizer", err.Error(), "Split, Digits, Punctuation, ByteLevel, and a Sequence of them")
	}
	pre := tokenizer.PreTokenizerFor(expressions, file.Model.WholeWords)
	if pre == "" {
		return v.refuse("pre_tokenizer", fmt.Sprintf("expressions that no known model has: %.300q", expressions),
			"those of docs/models.md: choose a GGUF file of the model, or another model")
	}
	metadata.Set("tokenizer.ggml.model", "gpt2")
	metadata.Set("tokenizer.ggml.pre", pre)
	lines := make([]string, len(file.Model.Merges))
	for i, m := range file.Model.Merges {
		// A space separates the two parts of a merge, so a space inside a part becomes Ġ.
		lines[i] = strings.ReplaceAll(m[0], " ", "Ġ") + " " + strings.ReplaceAll(m[1], " ", "Ġ")
	}
	metadata.Set("tokenizer.ggml.merges", lines)
	return nil
}

// scores gives each token a score by the first merge that makes it: the earlier the merge, the higher
// the score. In files of transformers, the merges of SentencePiece vocabularies are sorted by score, so
// this restores the order of the scores.
func (v *vocabulary) scores(file *tokenizerFile) []float32 {
	scores := make([]float32, len(v.tokens))
	for i := range scores {
		scores[i] = -float32(len(file.Model.Merges)) - 1
	}
	seen := make([]bool, len(v.tokens))
	for rank, m := range file.Model.Merges {
		if id, ok := v.ids[m[0]+m[1]]; ok && !seen[id] {
			scores[id], seen[id] = -float32(rank), true
		}
	}
	return scores
}

// special writes to the metadata which tokens begin and end texts, pad them, and stand for what is unknown;
// and the chat template.
func (f *Folder) special(ctx context.Context, metadata *gguf.Builder, file *tokenizerFile, v *vocabulary) error {
	config, err := f.optional(ctx, tokenizerConfig)
	if err != nil {
		return err
	}
	generation, err := f.optional(ctx, generationName)
	if err != nil {
		return err
	}
	named := func(field string) (int32, bool) {
		text := ""
		if _, isText := config.values[field].(string); isText {
			text = config.Text(field)
		} else {
			text = config.Object(field).Text("content")
		}
		id, ok := v.ids[text]
		return id, ok && text != ""
	}
	for _, s := range []struct{ key, name string }{{"bos", "bos"}, {"eos", "eos"}, {"unknown", "unk"}, {"padding", "pad"}} {
		id, ok := named(s.name + "_token")
		if !ok {
			id, ok = v.first(generation, f.config, s.name+"_token_id")
		}
		if !ok && s.key == "unknown" {
			id, ok = v.ids[file.Model.Unknown]
		}
		if value := int32(-1); true {
			if ok {
				value = id
			}
			metadata.Set("tokenizer.ggml."+s.key+"_token_id", value)
		}
	}
	ends := append(v.all(generation, "eos_token_id"), v.all(f.config, "eos_token_id")...)
	metadata.Set("tokenizer.ggml.end_token_ids", ends)
	addBOS, given := config.Bool("add_bos_token")
	if given == "" {
		addBOS = file.PostProcessor.beginsWithToken()
	}
	metadata.Set("tokenizer.ggml.add_bos_token", addBOS)
	template, err := f.template(ctx, config)
	if err == nil && template != "" {
		metadata.Set("tokenizer.chat_template", template)
	}
	return errors.Join(err, config.Err(), generation.Err(), f.config.Err())
}

// optional reads a JSON object that may be missing.
func (f *Folder) optional(ctx context.Context, name string) (Fields, error) {
	fields, err := f.object(ctx, name, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return fields, nil
	}
	return fields, err
}

// first returns the first token id in a field of a; if a has none, the first in the same field of b.
func (v *vocabulary) first(a, b Fields, field string) (int32, bool) {
	if ids := append(v.all(a, field), v.all(b, field)...); len(ids) > 0 {
		return ids[0], true
	}
	return 0, false
}

// all returns the token ids in a field, which holds one number or a list. It leaves out numbers outside
// the vocabulary.
func (v *vocabulary) all(fields Fields, name string) []int32 {
	ids := []int32{}
	var numbers []float64
	if _, isList := fields.values[name].([]any); isList {
		numbers = fields.Numbers(name)
	} else if x, found := fields.Number(name); found != "" {
		numbers = []float64{x}
	}
	for _, x := range numbers {
		if id := int32(x); x >= 0 && x < float64(len(v.tokens)) && float64(id) == x {
			ids = append(ids, id)
		}
	}
	return ids
}

// template returns the chat template; "" if there is none. Of several templates it is the one named
// default, or else the first.
func (f *Folder) template(ctx context.Context, config Fields) (string, error) {
	data, err := f.read(ctx, "chat_template.jinja", maxConfigBytes)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return string(data), err
	}
	if config.Has("chat_template") == "" {
		if config, err = f.optional(ctx, "chat_template.json"); err != nil {
			return "", err
		}
	}
	several, isList := config.values["chat_template"].([]any)
	if !isList {
		return config.Text("chat_template"), config.Err()
	}
	chosen := ""
	for _, one := range several {
		fields, _ := one.(map[string]any)
		text, _ := fields["template"].(string)
		if chosen == "" || fields["name"] == "default" {
			chosen = text
		}
	}
	return chosen, nil
}
