package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/constrain"
	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/shape"
	"specula/engine/weights"
	"specula/tokenizer"
	"specula/tokenizer/chat"
)

// ErrModel is wrapped by every error that says a model could not be loaded.
var ErrModel = errors.New("the model could not be loaded")

// prefillRows is the number of prompt tokens in one pass, unless the device asks for another number.
// With many rows each weight is read rarely; with few rows a cancelled prefill ends soon.
const prefillRows = 128

// Source is where a model comes from: a GGUF file, or bytes inside the program. The zero Source is no model.
type Source struct {
	Path     string
	Embedded []byte
	Name     string // name of an embedded model; not used with a Path
}

// name is the path of the file, or the name of the embedded bytes.
func (s Source) name() string { return cmp.Or(s.Path, s.Name) }

func (s Source) none() bool { return s.Path == "" && s.Embedded == nil }

// HeadSource is a file of trained heads inside the program.
type HeadSource struct {
	Name    string // name of the proposer that uses these heads: "eagle" or "medusa"
	Weights []byte // the bytes of a safetensors file
	Config  []byte // the config.json beside it; nil: none
}

// Options are the inputs of Load.
type Options struct {
	Version   string
	Config    config.Config
	Target    Source
	Draft     Source       // the zero Source: no draft model
	Heads     []HeadSource // heads made for Target; heads that the settings name take precedence
	Remote    Remote       // the server that runs the target; nil: the target runs here
	Backend   compute.Backend
	DeviceWhy string // why this device was chosen
	// DraftBackend is where the draft model computes; nil: on Backend.
	DraftBackend compute.Backend
	// Fallback opens a device on which replies continue when a device fails. nil: such replies end with an
	// error. The caller of Load closes the device that Fallback has opened.
	Fallback func() compute.Backend
	Now      func() time.Time // the clock of every measurement
	// CalibrationTime limits the measuring of rounds before a session's first reply; 0: calibrationTime, or
	// with a server serverCalibrationTime.
	CalibrationTime time.Duration
	NewSeed         func() int64 // a fresh seed ≥ 0 for each reply that asks for seed -1
}

// Engine is a loaded pair of models. Two of its sessions must not use it at the same time. If its device
// fails, a second engine on another device takes its place (the field next). Nothing but next changes after
// loading.
type Engine struct {
	options   Options
	target    *model.Model // nil: it is on a server
	shape     model.Config // shape of the target; if a server has it, only what is known of it
	draft     *model.Model // nil: there is none, or it was refused
	lexicon   *lexicon     // nil: target and draft model have the same vocabulary
	translate string       // how a draft of another vocabulary is used: "tokens" or "text"
	tokens    *tokenizer.Tokenizer
	template  *chat.Template
	stops     map[int32]bool
	words     func() *shape.Vocabulary     // reads the vocabulary when a setting first names a token
	spelling  func() *constrain.Vocabulary // reads the vocabulary when a constraint is first set
	ready     event.Ready

	next fallback // the engine that continues the replies after this one's device has failed

	drafter      *weights.File          // the file of Options.Draft, if it is a drafter that reads the target's keys; nil once loadHeads has read it
	heads        map[string]*model.Head // key: the name of the proposer that uses the heads
	headsRefused map[string]string      // key: the same name; value: why heads that were asked for cannot be used
}

// Load reads the models. It emits Loading events for the progress and one Ready event for the result. If
// the target, the draft or the heads cannot be loaded, the error wraps ErrModel. A draft model with
// another vocabulary is no error: its drafts are translated. If model.translate is off, Ready says
// why the draft model is not used.
func Load(ctx context.Context, o Options, emit func(event.Event)) (*Engine, error) {
	began := o.Now()
	e := &Engine{options: o}
	file, err := e.openTarget(ctx, emit)
	if err != nil {
		return nil, err
	}
	language, err := readLanguage(file, o.Config.Model.Template)
	if err != nil {
		return nil, loadError("target", o.Target, err)
	}
	e.tokens, e.template = language.tokens, language.template
	e.words = sync.OnceValue(func() *shape.Vocabulary { return shape.NewVocabulary(e.tokens) })
	e.spelling = sync.OnceValue(e.newSpelling)
	e.stops = map[int32]bool{}
	for _, id := range e.tokens.StopTokens() {
		e.stops[id] = true
	}
	if err := e.loadTarget(ctx, file); err != nil {
		return nil, err
	}
	language.tell(&e.ready)
	if err := e.loadDraft(ctx, emit); err != nil {
		return nil, err
	}
	if err := e.loadHeads(ctx, emit); err != nil {
		return nil, err
	}
	if _, err := skippedLayers(o.Config.Speculation.SkipLayers, e.shape); err != nil {
		return nil, err
	}
	e.ready.Proposers = e.describeProposers()
	choice := e.auto(nil)
	e.ready.Auto = &choice
	e.ready.LoadMS = milliseconds(o.Now().Sub(began))
	emit(e.ready)
	return e, nil
}

// loadTarget loads the target's weights, and describes the target. If a server has the target, loadTarget
// only describes it.
func (e *Engine) loadTarget(ctx context.Context, file *weights.File) (err error) {
	o := e.options
	if o.Remote != nil {
		return e.describeRemote(ctx)
	}
	options := e.modelOptions(o.Backend, o.Config.Context.Length)
	options.Head = true
	if e.target, err = model.Load(ctx, o.Backend, file, options, nil); err != nil {
		return loadError("target", o.Target, err)
	}
	e.shape = e.target.Config()
	e.ready = event.Ready{
		Version: o.Version, Target: describe(o.Target, file, e.target),
		Device: o.describeDevices(), DeviceWhy: o.DeviceWhy, DeviceDetail: o.Backend.Info().Detail,
	}
	return nil
}

// loadDraft loads the draft model, or notes in ready why there is none.
func (e *Engine) loadDraft(ctx context.Context, emit func(event.Event)) error {
	o := e.options
	if o.Draft.none() {
		e.ready.DraftRefused = "no draft model was asked for"
		return nil
	}
	file, err := open(ctx, "draft", o.Draft, emit)
	if err != nil {
		return err
	}
	if model.IsAssistant(file) {
		e.drafter, e.ready.DraftRefused = file, "the file of the draft is a drafter for the target's hidden states: the proposer mtp uses it"
		return nil
	}
	vocab, err := file.TokenizerSpec()
	if err != nil {
		return loadError("draft", o.Draft, err)
	}
	tokens, err := tokenizer.New(vocab)
	if err != nil {
		return loadError("draft", o.Draft, err)
	}
	if why := compareVocabularies(e.tokens, tokens); why != "" {
		if o.Config.Model.Translate == "off" {
			e.ready.DraftRefused = "the vocabularies of draft model and target differ, " + why + "; with model.translate auto the draft model drafts nevertheless"
			return nil
		}
		e.ready.Warnings = append(e.ready.Warnings, assumedPre("draft", vocab)...) // the draft's tokenizer is needed only here
		e.lexicon = newLexicon(e.tokens, tokens)
		e.translate, e.ready.DraftTranslated = e.lexicon.way(o.Config.Model.Translate)
	}
	backend := o.draftBackend()
	options := e.modelOptions(backend, shorter(e.shape.MaxTokens, file))
	if backend == o.Backend && e.target != nil {
		options.Reserved = e.shape.CacheBytes // memory that a session takes after both models are loaded
	}
	if e.draft, err = model.Load(ctx, backend, file, options, nil); err != nil {
		return loadError("draft", o.Draft, err)
	}
	described := describe(o.Draft, file, e.draft)
	e.ready.Draft = &described
	return nil
}

// shorter returns the context length of the draft model: contextTokens, or less if the draft's file
// allows less. Beyond this length the draft model proposes nothing.
func shorter(contextTokens int, draft *weights.File) int {
	allowed, found, err := draft.Uint(draft.Architecture() + ".context_length")
	if err != nil || !found || allowed > uint64(contextTokens) {
		return contextTokens // model.Load reports what is wrong with the file
	}
	return int(allowed)
}

// draftBackend is where the draft model computes.
func (o Options) draftBackend() compute.Backend {
	if o.DraftBackend == nil {
		return o.Backend
	}
	return o.DraftBackend
}

// describeDevices names what target and draft model run on.
func (o Options) describeDevices() string {
	target := o.Backend.Info()
	text := target.Kind + ": " + target.Name
	if o.DraftBackend != nil && !o.Draft.none() {
		draft := o.DraftBackend.Info()
		text += "; draft on " + draft.Kind + ": " + draft.Name
	}
	return text
}

// modelOptions limits a model to contextTokens (0: what its file allows) and to the largest pass of a session.
func (e *Engine) modelOptions(backend compute.Backend, contextTokens int) model.Options {
	device := backend.Info()
	return model.Options{
		MaxTokens: contextTokens, MaxRows: config.MaxGamma + 1, PrefillRows: cmp.Or(device.PromptRows, prefillRows),
		CacheType: cacheType(e.options.Config.Context.Cache), CacheBySize: e.options.Config.Context.Cache == "auto" && device.Kind == "cpu",
	}
}

// cacheType returns the type that the setting context.cache names. For auto it returns the type for a
// GPU; on a CPU, the model chooses the type by its size instead (CacheBySize).
func cacheType(name string) compute.DType {
	switch name {
	case "q8_0":
		return compute.Q8_0
	case "f32":
		return compute.F32
	}
	return compute.F16
}

// open reads a model's file. It first checks by the header that the file holds a supported model. If what is
// "draft", the file may instead hold the assistant of Gemma 4.
func open(ctx context.Context, what string, s Source, emit func(event.Event)) (*weights.File, error) {
	name := s.Path
	if name == "" {
		name = s.Name
	}
	progress := func(done, total int64) {
		emit(event.Loading{What: what, Name: name, DoneBytes: done, TotalBytes: total})
	}
	var file *weights.File
	var err error
	if s.Embedded != nil {
		file, err = weights.Parse(s.Name, s.Embedded)
	} else {
		file, err = model.OpenHeader(ctx, s.Path)
	}
	if err == nil && !(what == "draft" && model.IsAssistant(file)) {
		err = model.Recognise(file) // checked first, because reading a whole file can take minutes
	}
	if err == nil && s.Embedded == nil {
		file, err = model.Open(ctx, s.Path, progress)
	}
	if err != nil {
		return nil, loadError(what, s, err)
	}
	if s.Embedded != nil {
		progress(file.Size(), file.Size())
	}
	return file, nil
}

// loadError says which model could not be loaded, and wraps err and ErrModel.
func loadError(what string, s Source, err error) error {
	return &modelError{fmt.Errorf("loading the %s model %q: %w", what, s.name(), err)}
}

// modelError wraps err and ErrModel. Its text is that of err alone, which says already that a model could
// not be loaded.
type modelError struct{ err error }

func (e *modelError) Error() string   { return e.err.Error() }
func (e *modelError) Unwrap() []error { return []error{ErrModel, e.err} }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
