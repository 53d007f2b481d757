package engine

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/remote"
	"specula/engine/round"
	"specula/engine/weights"
	"specula/tokenizer"
)

// Remote is a server that runs the target; *remote.Server implements it. This program has the model's
// vocabulary and chat template, so it sends the conversation as token ids.
type Remote interface {
	// Agree compares samples of the server's vocabulary with that of t. It returns an error if they differ.
	Agree(ctx context.Context, t *tokenizer.Tokenizer) error
	Describe() remote.Description
	NewTarget(vocab int) *remote.Target
}

// errOnServer refuses what needs the target's weights on this machine.
var errOnServer = errors.New("the target is on a server: this needs one on this machine, so leave remote.url empty")

// openTarget opens the target's file. If the target is on a server, openTarget reads only the header of the
// file, for the vocabulary.
func (e *Engine) openTarget(ctx context.Context, emit func(event.Event)) (*weights.File, error) {
	o := e.options
	if o.Remote == nil || o.Target.Embedded != nil {
		return open(ctx, "target", o.Target, emit)
	}
	file, err := model.OpenHeader(ctx, o.Target.Path)
	if err != nil {
		return nil, loadError("vocabulary of the target", o.Target, err)
	}
	return file, nil
}

// describeRemote checks by samples that the server's vocabulary is the one in the file, and describes the
// server's model.
func (e *Engine) describeRemote(ctx context.Context) error {
	o := e.options
	if err := o.Remote.Agree(ctx, e.tokens); err != nil {
		return err
	}
	d := o.Remote.Describe()
	if !d.Scores && !o.Config.Remote.Watch {
		return fmt.Errorf("%s at %s cannot score drafts that are made here: add --watch, or /watch on before /remote, to see its own speculation", d.Kind, d.Address)
	}
	e.shape = model.Config{Vocab: d.Vocab, MaxTokens: d.Context, Parameters: d.Parameters}
	e.ready = event.Ready{
		Version: o.Version, Device: fmt.Sprintf("%s at %s", d.Kind, d.Address), DeviceWhy: "remote.url names it", DeviceDetail: describeServer(d),
		Target: event.Model{Name: strings.TrimSuffix(path.Base(d.Model), ".gguf"), Path: d.Address, Server: d.Host, WeightType: d.WeightType, Parameters: d.Parameters, WeightBytes: d.Bytes,
			VocabSize: d.Vocab, ContextLength: d.Context},
	}
	if !o.Draft.none() {
		e.ready.Device += "; draft on " + o.draftBackend().Info().Kind
	}
	return nil
}

// describeServer says what the server can do, and its settings as far as they are known.
func describeServer(d remote.Description) string {
	text := "scores drafts that are made here: one request a round"
	if !d.Scores {
		text = "cannot score drafts that are made here; its own rounds can be watched"
	}
	if !d.Compared {
		text += "; it could not be asked whether its vocabulary is the one here"
	}
	if d.Slots > 0 {
		text += fmt.Sprintf("; %d sequences at the same time, enough for drafts of %d tokens", d.Slots, d.Slots-1)
	}
	if d.Speculates {
		text += "; it speculates by itself, too, which does not change its scores"
	}
	return text
}

// newTarget makes the target of a session, on the server or on this machine.
func (e *Engine) newTarget() (round.Cached, error) {
	if e.options.Remote != nil {
		return e.options.Remote.NewTarget(e.shape.Vocab), nil
	}
	return round.NewLocal(e.target)
}
