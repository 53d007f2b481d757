package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/ui"
	"specula/ui/sanitize"
	"specula/ui/theme"
)

// output writes events without a screen: text or JSON to stdout, the rest to stderr, and a trace to a file.
type output struct {
	app    *invocation
	config config.Config
	json   bool
	plain  bool // print the answer as a whole, after its end
	theme  *theme.Theme
	trace  tracer
	began  time.Time

	raw      bool // print the answer unchanged; see rawOutput
	safe     sanitize.Sanitizer
	answer   strings.Builder // raw text so far
	lastByte byte            // last printed byte of the answer; 0: nothing was printed
	progress bool            // stderr shows a progress line
	err      error           // the first error of a write; nothing is written after it
	failed   string          // the engine's error; "" if there was none
	seed     string          // the reply's seed in words; "" if the seed makes no difference
	fault    int             // the exit code if failed is not ""; 0 if that error has no code of its own
}

func (a *invocation) newOutput(c config.Config, o runFlags) (*output, error) {
	t, err := a.newTracer(o.trace)
	if err != nil {
		return nil, err
	}
	return &output{app: a, config: c, json: o.json, plain: o.plain, theme: a.theme(c, o.plain), raw: a.rawOutput(), trace: t, began: a.Now()}, nil
}

// theme returns the theme for stdout; nil if stdout must not have escape sequences.
func (a *invocation) theme(c config.Config, plain bool) *theme.Theme {
	if plain || !a.useColor() {
		return nil
	}
	name := c.UI.Theme
	if name == "auto" {
		name = "dark"
		if strings.HasSuffix(a.Terminal.Getenv("COLORFGBG"), ";15") {
			name = "light"
		}
	}
	t, _ := theme.Named(name, c.UI.Unicode)
	return t
}

// useColor reports whether to print colours. --color decides, unless it is auto. With auto, NO_COLOR
// decides, then CLICOLOR_FORCE, then whether stdout is a terminal that is not dumb.
func (a *invocation) useColor() bool {
	env := a.Terminal.Getenv
	switch {
	case a.color == "always":
		return true
	case a.color == "never", env("NO_COLOR") != "":
		return false
	case env("CLICOLOR_FORCE") != "" && env("CLICOLOR_FORCE") != "0":
		return true
	}
	return a.Terminal.StdoutTTY && env("TERM") != "dumb"
}

// rawOutput reports whether stdout gets a model's text unchanged: if stdout is not a terminal and the
// user has not asked for colours, which are for terminals.
func (a *invocation) rawOutput() bool { return !a.Terminal.StdoutTTY && !a.useColor() }

// shown returns a model's text for stdout: unchanged if rawOutput says so, otherwise safe for a terminal.
func (a *invocation) shown(text string) string {
	if a.rawOutput() {
		return text
	}
	return sanitize.Text(text)
}

// reply prints one reply and returns its raw text.
func (o *output) reply(ctx context.Context, s ui.Engine, messages []engine.Message) (string, error) {
	o.answer.Reset()
	o.safe, o.lastByte, o.failed = sanitize.Sanitizer{}, 0, ""
	inspect := o.config.UI.Inspect && (o.json || o.trace.w != nil)
	for e := range s.Generate(ctx, engine.Request{Messages: messages, Inspect: inspect}) {
		o.put(e)
		if o.err != nil {
			break
		}
	}
	switch {
	case o.err != nil:
		return o.answer.String(), o.err
	case o.failed != "" && o.fault != 0:
		return o.answer.String(), &coded{o.fault, errors.New(o.failed)}
	case o.failed != "":
		return o.answer.String(), o.app.classify(errors.New(o.failed))
	}
	return o.answer.String(), nil
}

// faultOf returns the exit code for a failure of the device or the model; 0 for any other failure.
func faultOf(f event.Failed) int {
	switch {
	case f.Device:
		return ExitDevice
	case f.Model:
		return ExitModel
	}
	return 0
}

// put records one event in the trace and prints it. After an error it does nothing.
func (o *output) put(e event.Event) {
	if o.err != nil {
		return
	}
	if o.err = o.trace.put(e); o.err != nil {
		return
	}
	if f, ok := e.(event.Failed); ok {
		o.failed, o.fault = f.Error, faultOf(f)
	}
	if o.json {
		o.err = o.putJSON(e)
		return
	}
	o.err = o.putText(e)
}

func (o *output) putJSON(e event.Event) error {
	ms := float64(o.app.Now().Sub(o.began)) / float64(time.Millisecond)
	line, err := event.Marshal(e, ms)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.app.Terminal.Stdout, escapeJSON(string(line)))
	return err
}

func (o *output) putText(e event.Event) error {
	switch e := e.(type) {
	case event.Loading:
		o.showProgress(e)
	case event.Ready:
		o.ready(e)
	case event.ReplyStarted:
		if o.seed = ""; e.Settings.Temperature > 0 {
			o.seed = fmt.Sprintf(" · seed %d", e.Settings.Seed)
		}
	case event.Notice:
		o.app.say("%s: %s", e.Level, e.Text)
	case event.Round:
		for _, t := range e.Committed() {
			if err := o.token(t); err != nil {
				return err
			}
		}
	case event.ReplyEnded:
		return o.end(e)
	}
	return nil
}

func (o *output) token(t event.Token) error {
	if t.Stop {
		return nil
	}
	o.answer.WriteString(t.Text)
	if o.plain {
		return nil
	}
	text := t.Text
	if !o.raw {
		text = o.safe.Write(text)
	}
	if o.theme == nil {
		return o.print(text)
	}
	return o.print(styleLines(o.theme.Fate(t.Verdict), text))
}

// styleLines styles each line separately, because terminals differ in how they draw a style across the end of
// a line.
func styleLines(s theme.Style, text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = s.On(line)
	}
	return strings.Join(lines, "\n")
}

func (o *output) print(text string) error {
	if text == "" {
		return nil
	}
	o.lastByte = text[len(text)-1]
	_, err := io.WriteString(o.app.Terminal.Stdout, text)
	return err
}

func (o *output) end(e event.ReplyEnded) error {
	o.answer.WriteString(e.Tail)
	if err := o.print(o.rest(e.Tail)); err != nil {
		return err
	}
	nothing := o.lastByte == 0 && (e.Reason == "error" || e.Reason == "cancelled") // no line to end
	if o.lastByte != '\n' && !nothing {
		if err := o.print("\n"); err != nil {
			return err
		}
	}
	if e.Reason != "error" {
		o.app.say("%s%s", statistics(e), o.seed)
	}
	return nil
}

// rest returns the part of the answer that has not been printed. tail is the text after its last token.
func (o *output) rest(tail string) string {
	switch {
	case o.plain:
		return o.app.shown(o.answer.String())
	case o.raw:
		return tail
	}
	return o.safe.Write(tail) + o.safe.Flush()
}

func (o *output) ready(e event.Ready) {
	o.clearProgress()
	c := o.config
	o.app.warn(e)
	if e.DraftTranslated != "" {
		o.app.say("the draft model has another vocabulary and is used %s", e.DraftTranslated)
	}
	name := c.Speculation.Proposer
	refused, _ := e.Refusal(name)
	switch {
	case !c.Speculation.Enabled:
	case name == "auto" && e.Auto != nil && e.Draft == nil:
		o.app.say("%s drafts: %s", e.Auto.Proposer, e.Auto.Why)
	case refused != "":
		o.app.say("%s cannot draft, so every round is plain: %s (--proposer auto takes what there is)", name, refused)
	}
	rule := c.Speculation.Acceptance
	if c.Speculation.Enabled && !slices.Contains(config.LosslessRules(), rule) && c.Sampling.Temperature > 0 {
		o.app.say("acceptance %s is lossy: the reply leans to what the draft likes (--acceptance block is not)", rule)
	}
	if !o.app.verbose {
		return
	}
	o.app.say("target: %s (%s)", e.Target.Name, e.Target.Path)
	if e.Draft != nil {
		o.app.say("draft: %s (%s)", e.Draft.Name, e.Draft.Path)
	}
	if e.Auto != nil && name == "auto" {
		o.app.say("proposer: auto: %s (%s)", e.Auto.Proposer, e.Auto.Why)
	}
	if e.Heads != "" {
		o.app.say("heads: %s (%s)", e.Heads, cmp.Or(c.Model.Heads, "built in"))
	}
	o.app.say("template: %s", e.Template)
	o.app.say("device: %s (%s)", e.Device, e.DeviceWhy)
}

// warn prints what was assumed about the models' files.
func (a *invocation) warn(r event.Ready) {
	for _, w := range r.Warnings {
		a.say("warning: %s: %s (%s)", w.About, w.Text, w.Do)
	}
}

// showProgress shows the progress on one line of stderr, unless stderr is no terminal or a dumb one.
func (o *output) showProgress(e event.Loading) {
	if !o.app.Terminal.StderrTTY || o.app.Terminal.Getenv("TERM") == "dumb" || e.TotalBytes <= 0 {
		return
	}
	o.progress = true
	fmt.Fprintf(o.app.Terminal.Stderr, "\rloading the %s model: %3d %%", sanitize.Line(e.What), 100*e.DoneBytes/e.TotalBytes)
}

func (o *output) clearProgress() {
	if o.progress {
		fmt.Fprintf(o.app.Terminal.Stderr, "\r%40s\r", "")
		o.progress = false
	}
}

func (o *output) close() error {
	o.clearProgress()
	return o.trace.close()
}

// say writes a line to stderr. It ignores an error, because there is no other place to report it.
func (a *invocation) say(format string, args ...any) {
	fmt.Fprintln(a.Terminal.Stderr, sanitize.Line(fmt.Sprintf(format, args...)))
}
