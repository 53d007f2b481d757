// Package chat turns a conversation into the text that a model was trained on, and remembers for every piece of
// that text where it came from.
//
// A chat model sees one long string in which control tokens such as <|im_start|> separate the turns. Whoever can
// write those tokens speaks with any voice, so the text of a message must never become one. The package therefore
// renders into segments: what the template wrote may hold control tokens, what came in as data may not, and no
// control token is recognised across the border of the two. Names of the usual roles (system, user, assistant,
// tool) count as written by the template, because templates such as Phi-3's build a control token around them;
// any other role is data.
//
// Four families of templates are built in. A file's own template is Jinja source by a stranger; package jinja runs
// it under limits. [Choose] picks one of them and says why in [Template.Name].
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
	Source   string   // the Jinja source in the model's file; empty if it has none
	Prefer   string   // one of [Choices]; empty is "auto"
	BOS, EOS string   // texts of the tokens that begin and end a document; empty if there are none
	Specials []string // texts of all control tokens of the vocabulary

	// Now is what strftime_now of a template reads; nil is time.Now.
	Now func() time.Time
}

// Choices lists the values that Options.Prefer may have.
func Choices() []string { return append([]string{"auto", "file"}, Families()...) }

// Families lists the keys of the built-in families, which are choices as well.
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
}

// writer renders a conversation; generate asks for the opening of the assistant's next turn at the end.
type writer func(messages []Message, generate bool) ([]tokenizer.Segment, error)

// Name says which template is in use and why, as a phrase to show to the user. It may quote the file and so must be
// made safe for a terminal like any other text from a file.
func (t *Template) Name() string { return t.name }

// Guessed reports whether the family was guessed, because the file has no template or one that cannot be used: then the
// model may read a format that it was not trained with.
func (t *Template) Guessed() bool { return t.guessed }

// Source returns the Jinja source in use, or "" if the template is a built-in one.
func (t *Template) Source() string { return t.source }

// Render writes the conversation as the model expects it. With addGenerationPrompt the text ends where the
// assistant's next turn begins. Neighbouring segments differ in origin, and none is empty.
//
// An error says what the template refused, for example roles that do not alternate, or which limit it ran into.
func (t *Template) Render(messages []Message, addGenerationPrompt bool) ([]tokenizer.Segment, error) {
	segments, err := t.write(messages, addGenerationPrompt)
	if err != nil {
		return nil, fmt.Errorf("chat: write %d messages with %s: %w", len(messages), t.name, err)
	}
	return segments, nil
}

// isKnownRole reports whether role is one of the names that count as the template's own words.
func isKnownRole(role string) bool {
	return slices.Contains([]string{"system", "user", "assistant", "tool"}, role)
}

// fingerprint is the beginning of the SHA-256 of a template, enough to compare it by eye with a published one.
func fingerprint(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:6]) + "…"
}
