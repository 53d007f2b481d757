package engine

import (
	"fmt"
	"slices"
	"strings"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/tokenizer"
	"specula/tokenizer/chat"
)

// language is what turns text into tokens: the vocabulary of a model's file, and its chat template.
type language struct {
	spec     tokenizer.Spec
	tokens   *tokenizer.Tokenizer
	template *chat.Template
}

// readLanguage reads the language of a model from the file's header. prefer is the setting
// model.template.
func readLanguage(file *weights.File, prefer string) (l language, err error) {
	if l.spec, err = file.TokenizerSpec(); err != nil {
		return l, err
	}
	if l.tokens, err = tokenizer.New(l.spec); err != nil {
		return l, err
	}
	l.template, err = newTemplate(file.ChatTemplate(), l.spec, l.tokens, prefer)
	return l, err
}

// tell notes in the event r which template makes a chat into text, and which bytes have no token. It adds a
// warning if the template is a guess, and one if the file does not name its pre-tokenizer.
func (l language) tell(r *event.Ready) {
	r.Template, r.Unspelled = l.template.Name(), listBytes(l.tokens.Unspelled())
	if l.template.Guessed() {
		r.Warnings = append(r.Warnings, event.Warning{About: "template", Text: "a guess: " + l.template.Name(),
			Do: "if replies look wrong, choose another by --template: " + strings.Join(chat.Families(), ", ")})
	}
	r.Warnings = append(r.Warnings, assumedPre("target", l.spec)...)
}

// assumedPre warns if a file does not name its pre-tokenizer, which splits text into words.
func assumedPre(what string, s tokenizer.Spec) []event.Warning {
	pre := s.AssumedPre()
	if pre == "" {
		return nil
	}
	return []event.Warning{{
		About: "tokenizer",
		Text: fmt.Sprintf("the %s's file does not say which pre-tokenizer it needs, so %s is assumed: "+
			"if that is wrong, the model reads other tokens than it was trained with", what, pre),
		Do: "download a newer conversion, or add the name: gguf-new-metadata --pre-tokenizer NAME OLD.gguf NEW.gguf",
	}}
}

// Study returns what Load would say about the text of a model: template, bytes without a token and
// warnings. It reads only the header of the file. If Load would refuse the file because of its header,
// Study returns the error that Load would return.
func Study(file *weights.File) (event.Ready, error) {
	var ready event.Ready
	if err := model.Recognise(file); err != nil {
		return ready, err
	}
	l, err := readLanguage(file, config.Default().Model.Template)
	if err == nil {
		l.tell(&ready)
	}
	return ready, err
}

// tellLost emits, once in a session, which bytes of the conversation have no token.
func (r *reply) tellLost() error {
	s, c := r.session, r.config
	if s.toldLost {
		return nil
	}
	lost := slices.Concat(r.session.engine.tokens.Lost(c.Model.System), r.session.engine.tokens.Lost(c.Guidance.Negative))
	for _, m := range r.request.Messages {
		lost = append(lost, r.session.engine.tokens.Lost(m.Content)...)
	}
	if len(lost) == 0 {
		return nil
	}
	s.toldLost = true
	text := "1 byte of the conversation has no token in this model's vocabulary and is left out"
	if len(lost) > 1 {
		text = fmt.Sprintf("%d bytes of the conversation have no token in this model's vocabulary and are left out", len(lost))
	}
	slices.Sort(lost)
	return r.out.emit(event.Notice{Level: "warning", Text: text + ": " + listBytes(slices.Compact(lost))})
}

// mostListed is the largest number of bytes that listBytes writes out. Few vocabularies lack more
// than four.
const mostListed = 4

// listBytes writes bytes as text. It writes out the first mostListed of them and only counts the
// others: "0x04, 0x06, 0x13, 0x14 and 4 more".
func listBytes(list []byte) string {
	var words []string
	for _, b := range list[:min(len(list), mostListed)] {
		words = append(words, fmt.Sprintf("0x%02X", b))
	}
	text := strings.Join(words, ", ")
	if more := len(list) - mostListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
