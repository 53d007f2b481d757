package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"specula/tokenizer"
)

// Choose picks a template.
//
// With Prefer "" or "auto", the file's own template decides. If it can switch thinking, it is used.
// Otherwise Choose takes a built-in family that writes the same text for all sample conversations, because
// a built-in family runs no code of the file. If there is no such family, the file's own template is
// used. If the file has no usable template, the family is guessed from the control tokens of the
// vocabulary, and Name says so. With Prefer "file", Choose uses the file's own template in any case. If
// Prefer is the key of a family, such as "chatml", Choose uses this family.
//
// The error says what to do when Prefer is unknown, or is "file" and the file's template cannot be
// used.
func Choose(o Options) (*Template, error) {
	for _, f := range families {
		if f.key == o.Prefer {
			return builtIn(f, o, "as configured"), nil
		}
	}
	switch o.Prefer {
	case "", "auto":
		return chooseFromFile(o), nil
	case "file":
		t, err := fromFile(o, "as configured")
		if err != nil {
			return nil, fmt.Errorf("chat: use the file's own template: %w; choose another template, such as auto", err)
		}
		return t, nil
	}
	return nil, fmt.Errorf("chat: template %.64q is unknown: choose one of %s", o.Prefer, strings.Join(Choices(), ", "))
}

func chooseFromFile(o Options) *Template {
	if strings.TrimSpace(o.Source) == "" {
		return guessed(o, "the file has no template")
	}
	own, err := fromFile(o, "no built-in one gives the same text")
	if err != nil {
		return guessed(o, fmt.Sprintf("the file's own template (sha256 %s) cannot be used (%v)", fingerprint(o.Source), err))
	}
	if own.file.obeys("on") {
		return own // no built-in template can switch thinking
	}
	for _, f := range families {
		if sameText(own.write, f.write(o.BOS, o.EOS)) {
			return builtIn(f, o, fmt.Sprintf("gives the same text as the file's own template (sha256 %s)", fingerprint(o.Source)))
		}
	}
	return own
}

func builtIn(f family, o Options, why string) *Template {
	return &Template{name: "built-in " + f.title + ": " + why, write: f.write(o.BOS, o.EOS), marks: findMarks(o.Source)}
}

// guessed returns the built-in template that the control tokens suggest. because says why the
// file's own is not used.
func guessed(o Options, because string) *Template {
	f, why := guess(o)
	t := builtIn(f, o, because+"; "+why)
	t.guessed = true
	return t
}

// fromFile returns the file's own template if it can write at least one of the samples. Otherwise the
// error says that there is no template, why it could not be read, or why it refused the first sample.
func fromFile(o Options, why string) (*Template, error) {
	if strings.TrimSpace(o.Source) == "" {
		return nil, errors.New("the file has none")
	}
	file, err := readFile(o)
	if err != nil {
		return nil, err
	}
	write := file.writer(nil)
	var refusal error
	for _, messages := range samples {
		if _, err := write(messages, true); err == nil {
			name := fmt.Sprintf("the file's own template (sha256 %s): %s", fingerprint(o.Source), why)
			return &Template{name: name, source: o.Source, write: write, file: file, marks: file.marks}, nil
		} else if refusal == nil {
			refusal = err
		}
	}
	return nil, refusal
}

// guess returns the family that the control tokens suggest, and the reason in words. Without such a token,
// an EOS token </s> suggests Llama-2. If nothing suggests a family, guess returns ChatML.
func guess(o Options) (family, string) {
	for _, f := range families {
		for _, sign := range f.signs {
			if slices.Contains(o.Specials, sign) {
				return f, fmt.Sprintf("guessed because the vocabulary has %s", sign)
			}
		}
	}
	if o.EOS == "</s>" {
		return families[len(families)-1], "guessed because documents end with </s>"
	}
	return families[0], "a mere guess, because no control token tells the format; answers may be poor"
}

// samples are conversations on which formats differ: with and without a system message, ending with
// a question or an answer, with white space around the content, with reasoning in an answer, and
// two that strict formats refuse.
var samples = [][]Message{
	{{"user", "Why?"}},
	{{"system", "Be brief."}, {"user", "Why?"}},
	{{"user", " a \n"}, {"assistant", " b\n"}, {"user", "\n c"}},
	{{"system", " s\n"}, {"user", " a "}, {"assistant", "b"}, {"user", "c"}, {"assistant", "d "}},
	{{"user", "a"}, {"assistant", "<think>\nr\n</think>\n\nb"}, {"user", "c"}},
	{{"user", "a"}, {"user", "b"}},
	{{"user", "a"}, {"assistant", "b"}, {"system", "s"}, {"user", "c"}},
}

// sameText reports whether two templates write the same for all samples, each with and without the
// opening of a next turn. A sample that both refuse makes no difference.
func sameText(a, b writer) bool {
	for _, messages := range samples {
		for _, generate := range []bool{true, false} {
			x, errX := a(messages, generate)
			y, errY := b(messages, generate)
			if (errX == nil) != (errY == nil) || plain(x) != plain(y) {
				return false
			}
		}
	}
	return true
}

func plain(segments []tokenizer.Segment) string {
	var text strings.Builder
	for _, s := range segments {
		text.WriteString(s.Text)
	}
	return text.String()
}
