package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"specula/engine/event"
	"specula/ui"
	"specula/ui/demo"
	"specula/ui/export"
)

type demoFlags struct {
	loop, check bool
	film        exportFlags
}

func (a *invocation) demoCommand() *cobra.Command {
	var o demoFlags
	c := &cobra.Command{
		Use:   "demo [FILE]",
		Short: "Play a demo script: a tour of five minutes, or one of your own",
		Long: `demo opens the screen and plays a script by itself: it asks, changes settings, races and
explains. Without FILE it plays the tour that is built in. Keys: right and left for the next and
the previous scene, space to pause, esc to leave; then you are in the chat. Your settings are
back after it, and nothing of it is saved as a chat.

docs/demo.md explains how to write a script. --check reads one without playing it. --film plays it
without a terminal and without waiting, and writes what the screen shows: FILE.svg plays in a
document, FILE.cast and FILE.v3.cast in asciinema.`,
		Example: `  specula demo
  specula demo talk.txt
  specula demo talk.txt --check
  specula demo --loop
  specula demo talk.txt --film talk.svg`,
		Args: arguments(0, 1),
		RunE: a.begin(func(c *cobra.Command, args []string) error { return a.demo(c.Context(), args, o) }),
	}
	c.Flags().BoolVar(&o.loop, "loop", false, "begin again after the last scene, and wait for no key")
	c.Flags().BoolVar(&o.check, "check", false, "say what is wrong with the script, and play nothing")
	c.Flags().StringVar(&o.film.path, "film", "", "write the script as a film to `FILE`, and show nothing")
	c.Flags().StringVar(&o.film.size, "size", "100x30", "size of the screen in the film, `COLUMNSxROWS`")
	c.Flags().BoolVar(&o.film.force, "force", false, "replace a film that is there")
	a.addSettings(c)
	return c
}

func (a *invocation) demo(ctx context.Context, args []string, o demoFlags) error {
	onScreen := !o.check && o.film.path == "" && a.onScreen()
	s := demo.Tour()
	if len(args) > 0 {
		var err error
		if s, err = readScript(args[0]); err != nil {
			return &coded{ExitUsage, err}
		}
	}
	if o.check {
		_, err := fmt.Fprintf(a.Terminal.Stdout, "%s: scenes %d, actions %d, nothing wrong\n", s.Name, len(s.Scenes()), len(s.Actions))
		return err
	}
	if o.film.path != "" {
		return a.filmDemo(ctx, s, o.film)
	}
	if !onScreen {
		return usagef("a demo needs a terminal that can show the screen; --check reads the script without one")
	}
	c, _, err := a.settings()
	if err != nil {
		return err
	}
	options := ui.Options{
		Config: c, Color: a.color, Now: a.Now, Keeper: a.keeper, Demo: s, Loop: o.loop,
		Load: func(ctx context.Context, emit func(event.Event)) (ui.Engine, error) { return a.open(ctx, c, emit) },
	}
	a.keep(&options)
	return a.classify(a.Screen(ctx, options))
}

// filmDemo plays a script without a terminal, and writes what the screen shows.
func (a *invocation) filmDemo(ctx context.Context, s *demo.Script, o exportFlags) error {
	format, err := export.FilmFor(o.path)
	if err != nil {
		return &coded{ExitUsage, err}
	}
	w, h, err := o.cells()
	if err != nil {
		return err
	}
	c, _, err := a.settings()
	if err != nil {
		return err
	}
	f, err := ui.DemoFilm(ctx, ui.Options{Config: c, Demo: s, Load: func(ctx context.Context, emit func(event.Event)) (ui.Engine, error) { return a.open(ctx, c, emit) }}, w, h)
	if err != nil {
		return a.classify(fmt.Errorf("filming %s: %w", s.Name, err))
	}
	return writeFile(o, func(w io.Writer) error { return format.Write(w, export.Source{Film: f}) })
}

// readScript reads and checks a script.
func readScript(path string) (*demo.Script, error) {
	text, err := readBounded(path, demo.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("reading the script: %w", err)
	}
	return demo.Parse(path, string(text))
}
