package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"specula/engine/model"
	"specula/engine/weights"
	"specula/tokenizer"
)

// loadAssistant loads the drafter that loadDraft has found, if any: a head in a file of its own, which reads the
// keys and values of the target. A drafter that does not fit the target is no error: the proposer mtp then says
// why it cannot be chosen.
func (e *Engine) loadAssistant(ctx context.Context) error {
	file := e.drafter
	if file == nil {
		return nil
	}
	e.drafter = nil
	head, err := e.readAssistant(ctx, file)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		e.headsRefused["mtp"] = err.Error()
		e.ready.DraftRefused = "the file of the draft is a drafter for another target: the reason stands at the proposer mtp"
	default:
		delete(e.headsRefused, "mtp")
		e.heads[head.Name] = head
	}
	return nil
}

func (e *Engine) readAssistant(ctx context.Context, file *weights.File) (*model.Head, error) {
	vocab, err := file.TokenizerSpec()
	if err != nil {
		return nil, fmt.Errorf("reading the vocabulary of %q: %w", file.Name(), err)
	}
	tokens, err := tokenizer.New(vocab)
	if err != nil {
		return nil, fmt.Errorf("reading the vocabulary of %q: %w", file.Name(), err)
	}
	// A drafter for another family most likely has another vocabulary, too. The family is the better reason.
	if _, err := model.AssistantFits(e.target, file); err != nil {
		return nil, fmt.Errorf("the drafter %q: %w", file.Name(), err)
	}
	if why := compareVocabularies(e.tokens, tokens); why != "" {
		return nil, fmt.Errorf("the drafter %q was made for another vocabulary, %s", file.Name(), why)
	}
	options := e.modelOptions(e.options.Backend, shorter(e.shape.MaxTokens, file))
	options.Reserved = e.shape.CacheBytes // memory that a session takes after the drafter is loaded
	return model.LoadAssistant(ctx, e.target, file, options)
}

// mostBeside limits how many files beside a target DrafterBeside opens.
const mostBeside = 64

// DrafterBeside returns a drafter mtp-NAME.gguf in the folder of a target, if it was made for models of the
// target's width. If there are several, it returns the one whose NAME has the longest beginning in common with
// the target's name. The zero Source means that there is none.
func DrafterBeside(ctx context.Context, target string) Source {
	paths, err := filepath.Glob(filepath.Join(escaped.Replace(filepath.Dir(target)), "mtp-*.gguf"))
	if err != nil || len(paths) == 0 {
		return Source{}
	}
	header, err := model.OpenHeader(ctx, target)
	if err != nil {
		return Source{} // loading the target reports what is wrong with it
	}
	width, _, _ := header.Uint(header.Architecture() + ".embedding_length")
	best, most := "", -1
	for _, path := range paths[:min(len(paths), mostBeside)] {
		file, err := model.OpenHeader(ctx, path)
		if err != nil || !model.IsAssistant(file) {
			continue
		}
		made, _, _ := file.Uint(file.Architecture() + ".embedding_length_out")
		if n := alike(path, target); made == width && n > most {
			best, most = path, n
		}
	}
	return Source{Path: best}
}

// escaped turns the path of a folder into a pattern for filepath.Glob that matches only this folder.
var escaped = strings.NewReplacer("*", `[*]`, "?", `[?]`, "[", `[[]`)

// alike returns how many bytes the names of a drafter and a target have in common at the beginning, in lower
// case and without "mtp-".
func alike(drafter, target string) int {
	a := strings.ToLower(strings.TrimPrefix(filepath.Base(drafter), "mtp-"))
	b := strings.ToLower(filepath.Base(target))
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
