package engine

import (
	"context"
	"fmt"
	"strings"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/spec"
	"specula/engine/weights/safetensors"
)

// Trained heads draft from the target's hidden states. So while heads draft, each pass of the
// target must keep these states on the device (compute.Tap). Passes for other proposers run without
// a tap, at no extra cost.

// loadHeads loads three kinds of heads: those that the setting model.heads names; the MTP head in the target's
// own file, or in the file given as draft; and built-in heads for proposers that have none yet. If a file cannot
// be read, the error wraps ErrModel. Heads that do not fit the target are no error: their proposers say why they
// cannot be chosen. If the heads of the setting do not fit, no built-in heads are loaded.
func (e *Engine) loadHeads(ctx context.Context, emit func(event.Event)) error {
	e.heads, e.headsRefused = map[string]*model.Head{}, map[string]string{}
	if e.target == nil {
		return nil
	}
	if path := e.options.Config.Model.Heads; path != "" {
		file, err := safetensors.Open(ctx, path, func(done, total int64) {
			emit(event.Loading{What: "heads", Name: path, DoneBytes: done, TotalBytes: total})
		})
		if err != nil {
			return headsError(path, err)
		}
		head, err := model.LoadHead(ctx, e.target, file)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // not returned; but as heads are refused, built-in ones do not silently replace those of the file
			e.headsRefused["eagle"], e.headsRefused["medusa"] = err.Error(), err.Error()
		default:
			e.heads[head.Name] = head
		}
	}
	if err := e.loadOwnHead(); err != nil {
		return err
	}
	if err := e.loadAssistant(ctx); err != nil {
		return err
	}
	for _, source := range e.options.Heads {
		if e.heads[source.Name] == nil && e.headsRefused[source.Name] == "" {
			if err := e.loadBuiltIn(ctx, source); err != nil {
				return err
			}
		}
	}
	e.ready.Heads = e.describeHeads()
	return nil
}

// loadOwnHead makes the MTP head that lies in the target's own file, if any, usable: it allocates the head's
// buffers (model.Head). A head that cannot be used is no error.
func (e *Engine) loadOwnHead() error {
	head, why, err := e.target.Head()
	if err != nil {
		return &modelError{fmt.Errorf("preparing the head in the target's file: %w", err)}
	}
	if why != "" {
		e.headsRefused["mtp"] = why
	}
	if head != nil {
		e.heads[head.Name] = head
	}
	return nil
}

// loadBuiltIn loads heads that are built into the program.
func (e *Engine) loadBuiltIn(ctx context.Context, source HeadSource) error {
	file, err := safetensors.Parse(source.Name, source.Weights)
	if err != nil {
		return headsError(source.Name, err)
	}
	head, err := model.LoadHead(ctx, e.target, file.WithConfig(source.Config))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		e.headsRefused[source.Name] = err.Error()
	case head.Name != source.Name:
		return headsError(source.Name, fmt.Errorf("they are %s", head.Kind))
	default:
		e.heads[head.Name] = head
	}
	return nil
}

func headsError(name string, err error) error {
	return &modelError{fmt.Errorf("loading the heads %q: %w", name, err)}
}

// describeHeads lists the loaded heads, in the order of the proposers; "" for none.
func (e *Engine) describeHeads() string {
	var list []string
	for _, d := range drafters() {
		if head := e.heads[d.Name]; head != nil {
			list = append(list, fmt.Sprintf("%s, %.1f million parameters", head.Kind, float64(head.Parameters)/1e6))
		}
	}
	return strings.Join(list, "; ")
}

// noHeads says why there are no heads of a kind, "eagle", "medusa" or "mtp"; "" if there are.
func (e *Engine) noHeads(name string) string {
	path := e.options.Config.Model.Heads
	switch {
	case e.target == nil:
		return "the target is on a server: its hidden states are not here"
	case e.heads[name] != nil:
		return ""
	case e.headsRefused[name] != "":
		return e.headsRefused[name]
	case name == "mtp":
		return "the target's file has no head of multi-token prediction (nextn), and no drafter for it lies beside it (mtp-NAME.gguf)"
	case path != "":
		other := e.heads[map[string]string{"eagle": "medusa", "medusa": "eagle"}[name]]
		return fmt.Sprintf("the heads in %q are %s: choose the proposer %s", path, other.Kind, other.Name)
	}
	return "no trained heads for this target are loaded: name a safetensors file of them by --heads"
}

func buildEagle(s *Session, _ config.Speculation) (spec.Proposer, error) {
	return buildHeads(s, "eagle")
}

func buildMedusa(s *Session, _ config.Speculation) (spec.Proposer, error) {
	return buildHeads(s, "medusa")
}

func buildMTP(s *Session, _ config.Speculation) (spec.Proposer, error) { return buildHeads(s, "mtp") }

// buildHeads makes the proposer of loaded heads.
func buildHeads(s *Session, name string) (spec.Proposer, error) {
	e := s.engine
	head := e.heads[name]
	var state spec.HiddenModel
	var err error
	switch {
	case head.Layer != nil:
		state, err = head.Layer.NewState()
	case head.Assistant != nil:
		state, err = head.Assistant.NewState(s.cache())
	default:
		state, err = head.Medusa.NewState()
	}
	if err != nil {
		return nil, err
	}
	return spec.NewHeads(name, state, e.tokens.VocabSize())
}

// rehearseHeads lets the target read one token with a tap: heads need hidden states to draft in a rehearsal. The
// token stays in the target's cache, because some heads also read its key (assistant).
func (s *Session) rehearseHeads(ctx context.Context, heads spec.HiddenReader) error {
	target := s.engine.target
	target.Attach(heads.Tap())
	defer target.Attach(nil)
	text := s.textTokens(2)
	if err := s.target.Prefill(ctx, text[:1], nil); err != nil {
		return err
	}
	if _, err := heads.Begin(text); err != nil {
		return err
	}
	return heads.Take(ctx, 0, 1)
}

// attach sets a tap on the target if the proposer reads hidden states. The returned function removes the tap.
func (r *reply) attach(p spec.Proposer) (detach func()) {
	target := r.session.engine.target
	if target == nil {
		return func() {}
	}
	if p != nil && r.heads != nil {
		target.Attach(r.heads.Tap())
	}
	return func() { target.Attach(nil) }
}
