package cli

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/spf13/cobra"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/ui"
	"specula/ui/race"
)

type raceFlags struct {
	prompt   string
	lanes    [2]string
	after    bool
	json     bool
	recorded bool // the lanes are recordings
	plain    bool
	// open returns the engine, which has to be a ui.Racer.
	open func(context.Context, func(event.Event)) (ui.Engine, error)
}

func (a *invocation) raceCommand() *cobra.Command {
	var o raceFlags
	c := &cobra.Command{
		Use:   "race [PROMPT]",
		Short: "Answer one prompt in two lanes, with and without speculation",
		Long: `race answers one prompt twice, in two lanes: without speculation and with it, or with any two
settings. On a terminal both are shown side by side, and the result is printed when the screen
is closed. The lanes take turns on the engine, and each is counted by the time it used itself;
--after runs one after the other.

Both lanes write at temperature 0, where there is one right text, and the texts are compared. If
you ask for a temperature, they accept by the rule exact: then one seed gives one text. If you ask
for --acceptance, that holds, and only texts that must be equal are compared. It fails (exit code 1)
when they differ. With --json, every event is a line with its lane.`,
		Example: `  specula race "Tell me a story."
  specula race hello --a proposer=draft,gamma=2 --b proposer=ngram,gamma=6 --after
  specula race hello --json | grep '"lane":"b"'`,
		Args: cobra.ArbitraryArgs,
		RunE: a.begin(func(c *cobra.Command, args []string) error {
			var err error
			if o.prompt, err = onePrompt(c, o.prompt, args); err != nil {
				return err
			}
			return a.race(c.Context(), o)
		}),
	}
	c.Flags().StringVarP(&o.prompt, "prompt", "p", "", "the prompt as a flag; `TEXT` - stands for stdin")
	// Shells complete a flag of one letter only as a shorthand, so the letter is both name and shorthand.
	c.Flags().StringVarP(&o.lanes[0], "a", "a", race.Plain, "`SETTINGS` of the first lane, as NAME=VALUE,…; now for none")
	c.Flags().StringVarP(&o.lanes[1], "b", "b", race.With, "`SETTINGS` of the second lane")
	complete(c, "a", completeLane)
	complete(c, "b", completeLane)
	c.Flags().BoolVar(&o.after, "after", false, "one lane after the other")
	c.Flags().BoolVar(&o.json, "json", false, "print the events as JSON lines")
	c.Flags().BoolVar(&o.plain, "plain", false, "print the result, without the screen")
	a.addSettings(c)
	return c
}

func (a *invocation) race(ctx context.Context, o raceFlags) error {
	onScreen := !o.plain && !o.json && a.onScreen()
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
	lanes = race.Comparable(lanes, a.overrides.all()...)
	c, _, err := a.settings()
	if err != nil {
		return err
	}
	o.open = func(ctx context.Context, emit func(event.Event)) (ui.Engine, error) { return a.open(ctx, c, emit) }
	if onScreen {
		return a.raceOnScreen(ctx, c, prompt, lanes, o)
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	return a.raceHere(ctx, prompt, lanes, o)
}

// raceOnScreen shows a race. It prints the result after the screen has closed, so that it stays visible.
func (a *invocation) raceOnScreen(ctx context.Context, c config.Config, prompt string, lanes [2]race.Lane, o raceFlags) error {
	p := a.newRaceReport(lanes, o)
	var mu sync.Mutex // a race that does not stop may run longer than its screen
	err := a.Screen(ctx, ui.Options{
		Config: c, Color: a.color, Now: a.Now, Keeper: a.keeper,
		Load: o.open,
		Race: &ui.RaceStart{
			Prompt: prompt, Lanes: lanes, After: o.after, Recorded: o.recorded,
			Record: func(lane int, e event.Event) {
				mu.Lock()
				defer mu.Unlock()
				_ = p.add(lane, e) // cannot fail here: only printing JSON can
			},
			Over: func(outcome event.RaceOutcome, failure string) {
				mu.Lock()
				defer mu.Unlock()
				p.Outcome, p.failed = outcome, cmp.Or(p.failed, failure)
			},
		},
	})
	if err != nil {
		return a.classify(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if p.begun() {
		if err := p.finish(); err != nil {
			return err
		}
	}
	return a.verdict(p)
}

// raceHere runs a race without a screen.
func (a *invocation) raceHere(ctx context.Context, prompt string, lanes [2]race.Lane, o raceFlags) error {
	session, err := o.open(ctx, func(e event.Event) {
		switch e := e.(type) {
		case event.Notice:
			a.say("%s", e.Text)
		case event.Ready:
			a.warn(e)
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
	r, err := racer.Race(ctx, lanes, o.after)
	if err != nil {
		return a.classify(err)
	}
	defer r.Close()
	p := a.newRaceReport(lanes, o)
	for lane, e := range r.Run(ctx, []engine.Message{{Role: "user", Content: prompt}}) {
		if err := p.add(lane, e); err != nil {
			return err
		}
	}
	p.Outcome = r.Outcome()
	if err := p.finish(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	return a.verdict(p)
}

// verdict returns the error of a race: it failed, or texts differ that must be equal; nil if neither.
func (a *invocation) verdict(p *raceReport) error {
	switch {
	case p.failed != "":
		return a.classify(errors.New(p.failed))
	case p.Outcome.Compared && !p.Outcome.Same && !p.Outcome.Free:
		return errors.New("texts differ that must be equal")
	}
	return nil
}
