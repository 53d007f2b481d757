// Package chat turns a conversation into the prompt format that a model was trained on.
//
// Read [Message], [Options] and [Choose] first. Choose returns a [Template]. [Template.Name] says why
// it was chosen, [Template.Render] writes the prompt, and [Template.Think] switches thinking. [Marks]
// tell a thought from an answer. Five families of templates are built in (family.go). A file's own
// template is Jinja source by a stranger; package jinja runs it under limits.
//
// Invariant: the text of a message never becomes a control token. A chat model sees one long string in
// which control tokens such as <|im_start|> separate the turns. Whoever can write control tokens can
// speak in any role. So the prompt is a list of segments. What the template wrote may hold control
// tokens; what came in as data may not. A control token that lies partly in data is not recognised. The
// names of the usual roles (system, user, assistant, tool) count as the template's words, because
// templates such as Phi-3's build a control token around them. Any other role is data.
package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"specula/tokenizer"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"` // "system", "user", "assistant" or "tool"
	Content string `json:"content"`
}

// Options say what is known about the model and what the user wants.
type Options struct {
	Source   string   // the Jinja source in the model's file; empty: none
	Prefer   string   // one of [Choices]; empty: "auto"
	BOS, EOS string   // texts of the tokens that begin and end a document; empty: none
	Specials []string // texts of all control tokens of the vocabulary

	// Now is the clock for a template's strftime_now and for its time limit; nil means time.Now.
	Now func() time.Time
}

// Choices lists the values that Options.Prefer may have.
func Choices() []string { return append([]string{"auto", "file"}, Families()...) }

// Families lists the keys of the built-in families. They are choices as well.
func Families() []string {
	var keys []string
	for _, f := range families {
		keys = append(keys, f.key)
	}
	return keys
}

// Template renders conversations. It may be used by several goroutines at once.
type Template struct {
	name    string
	source  string
	guessed bool
	write   writer
	file    *fileTemplate // nil: built in
	marks   Marks
}

// writer renders a conversation. With generate, the text ends with the opening of the assistant's
// next turn. Formats without such an opening, Mistral and Llama 2, ignore generate.
type writer func(messages []Message, generate bool) ([]tokenizer.Segment, error)

// Name says which template is in use and why, in words for the user. It may quote the file, so
// sanitise it for a terminal like other text from a file.
func (t *Template) Name() string { return t.name }

// Guessed reports whether the family was guessed, because the file has no template or one that
// cannot be used. The model may then read a format that it was not trained on.
func (t *Template) Guessed() bool { return t.guessed }

// Source returns the Jinja source in use, or "" for a built-in template.
func (t *Template) Source() string { return t.source }

// Render writes the conversation as the model expects it. With addGenerationPrompt, the text ends
// where the assistant's next turn begins. Neighbouring segments differ in origin, and none is
// empty.
//
// The error says what the template refused, for example roles that do not alternate, or which
// limit it exceeded.
func (t *Template) Render(messages []Message, addGenerationPrompt bool) ([]tokenizer.Segment, error) {
	segments, err := t.write(messages, addGenerationPrompt)
	if err != nil {
		return nil, fmt.Errorf("chat: write %d messages with %s: %w", len(messages), t.name, err)
	}
	return segments, nil
}

// isKnownRole reports whether role counts as the template's own word.
func isKnownRole(role string) bool {
	return slices.Contains([]string{"system", "user", "assistant", "tool"}, role)
}

// fingerprint returns the first 12 hexadecimal digits of the SHA-256 of a template and an ellipsis.
// That is enough to compare it by eye with the SHA-256 of a published template.
func fingerprint(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:6]) + "…"
}
