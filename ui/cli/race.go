package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"specula/engine/config"
	"specula/engine/event"
	"specula/ui"
	"specula/ui/race"
	"specula/ui/sanitize"
)

type raceFlags struct {
	prompt string
	lanes  [2]string
	after  bool
	json   bool
	plain  bool
}

func (a *app) raceCommand() *cobra.Command {
	var o raceFlags
	c := &cobra.Command{
		Use:   "race [-p TEXT]",
		Short: "Answer one prompt in two lanes, with and without speculation",
		Long: `race answers one prompt twice, in two lanes: without speculation and with it, or with any two
settings. On a terminal both are shown side by side. The lanes take turns on the engine, and
each is counted by the time it used itself; --after runs one after the other.

The texts are compared where they must be equal: at temperature 0, and with --acceptance exact.
It fails (exit code 1) when such texts differ. With --json, every event is a line with its lane.`,
		Example: `  specula race -p "Tell me a story." --temperature 0
  specula race -p hello --a proposer=draft,gamma=2 --b proposer=ngram,gamma=6 --after
  specula race -p hello --json | grep '"lane":"b"'`,
		Args: cobra.NoArgs,
		RunE: a.begin(func(c *cobra.Command, _ []string) error { return a.race(c.Context(), o) }),
	}
	c.Flags().StringVarP(&o.prompt, "prompt", "p", "", "`TEXT` to answer; without it, or with -, the prompt is read from stdin")
	// One letter alone is completed by shells only as a shorthand.
	c.Flags().StringVarP(&o.lanes[0], "a", "a", race.Plain, "`SETTINGS` of the first lane, as NAME=VALUE,…; now for none")
	c.Flags().StringVarP(&o.lanes[1], "b", "b", "now", "`SETTINGS` of the second lane")
	complete(c, "a", completeLane)
	complete(c, "b", completeLane)
	c.Flags().BoolVar(&o.after, "after", false, "one lane after the other")
	c.Flags().BoolVar(&o.json, "json", false, "print the events as JSON lines")
	c.Flags().BoolVar(&o.plain, "plain", false, "print the result, without the screen")
	a.addSettings(c)
	return c
}

func (a *app) race(ctx context.Context, o raceFlags) error {
	prompt, err := a.prompt(o.prompt)
	if err != nil {
		return err
	}
	var lanes [2]race.Lane
	for i, text := range o.lanes {
		if lanes[i], err = race.ParseLane(text); err != nil {
			return usagef("--%c: %w", 'a'+i, err)
		}
	}
	c, _, err := a.settings()
	if err != nil {
		return err
	}
	if t := a.Terminal; t.StdinTTY && t.StdoutTTY && t.Getenv("TERM") != "dumb" && !o.plain && !o.json {
		return a.classify(a.Screen(ctx, ui.Options{
			Config: c, Color: a.color, Now: a.Now, Race: &ui.RaceStart{Prompt: prompt, Lanes: lanes, After: o.after},
			Load: func(ctx context.Context, emit func(event.Event)) (ui.Engine, error) { return a.open(ctx, c, emit) },
		}))
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	return a.raceHere(ctx, c, prompt, lanes, o)
}

// raceHere runs a race without a screen.
func (a *app) raceHere(ctx context.Context, c config.Config, prompt string, lanes [2]race.Lane, o raceFlags) error {
	session, err := a.open(ctx, c, func(e event.Event) {
		if n, ok := e.(event.Notice); ok {
			a.say("%s", n.Text)
		}
	})
	if err != nil {
		return a.classify(err)
	}
	defer session.Close()
	racer, ok := session.(ui.Racer)
	if !ok {
		return errors.New("this engine cannot race")
	}
	r, err := racer.Race(ctx, []ui.Message{{Role: "user", Content: prompt}}, lanes, o.after)
	if err != nil {
		return a.classify(err)
	}
	defer r.Close()
	p := &raceReport{app: a, json: o.json, began: a.Now()}
	for i := range p.Lanes {
		p.Lanes[i].Lane, p.Lanes[i].Name = laneName(i), lanes[i].Name
	}
	for lane, e := range r.Run(ctx) {
		if err := p.add(lane, e); err != nil {
			return err
		}
	}
	p.Outcome = r.Outcome()
	if err := p.finish(); err != nil {
		return err
	}
	_, wrong := p.Outcome.Words()
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case p.failed != "":
		return a.classify(errors.New(p.failed))
	case wrong:
		return errors.New("texts differ that must be equal")
	}
	return nil
}

func laneName(i int) string { return string(rune('a' + i)) }

// raceReport collects a race. Its JSON form is stable: fields may be added, not changed.
type raceReport struct {
	Lanes   [2]raceLane  `json:"lanes"`
	Outcome race.Outcome `json:"outcome"`
	Gain    string       `json:"gain"` // in words; empty when a lane was not measured

	app    *app
	json   bool
	began  time.Time
	failed string
}

type raceLane struct {
	Lane   string     `json:"lane"`
	Name   string     `json:"name"`
	Count  race.Count `json:"count"`
	Reason string     `json:"reason"`
	Text   string     `json:"text"`
}

// add takes an event. In JSON it is the event's own line with its lane in front.
func (p *raceReport) add(lane int, e event.Event) error {
	l := &p.Lanes[lane]
	l.Count.Add(e)
	switch e := e.(type) {
	case event.ReplyEnded:
		l.Text, l.Reason = e.Text, e.Reason
	case event.Failed:
		if p.failed != "" {
			break
		}
		p.failed = fmt.Sprintf("lane %s: %s", l.Lane, e.Error)
	}
	if !p.json {
		return nil
	}
	line, err := event.Marshal(e, float64(p.app.Now().Sub(p.began))/float64(time.Millisecond))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.app.Terminal.Stdout, "{\"lane\":%q,%s\n", l.Lane, escapeJSON(strings.TrimPrefix(string(line), "{")))
	return err
}

// finish prints what came of it.
func (p *raceReport) finish() error {
	p.Gain = race.Gain(&p.Lanes[0].Count, &p.Lanes[1].Count)
	if p.json {
		line, err := json.Marshal(struct {
			Kind string      `json:"kind"`
			Data *raceReport `json:"data"`
		}{"race-ended", p})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.app.Terminal.Stdout, escapeJSON(string(line)))
		return err
	}
	var b strings.Builder
	for _, l := range p.Lanes {
		fmt.Fprintf(&b, "%s  %s\n   %s tokens/s · %s\n\n%s\n\n", l.Lane, sanitize.Line(l.Name), l.Count.Speed("–"), l.Count.Words("·", "–"), sanitize.Text(l.Text))
	}
	if p.Gain != "" {
		fmt.Fprintln(&b, p.Gain)
	}
	words, _ := p.Outcome.Words()
	fmt.Fprintln(&b, sanitize.Line(words))
	_, err := io.WriteString(p.app.Terminal.Stdout, b.String())
	return err
}
