package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"specula/engine"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui"
	"specula/ui/export"
	"specula/ui/layout"
	"specula/ui/sanitize"
)

type exportFlags struct {
	path, format, size string
	round              int
	force              bool
}

func (a *invocation) exportCommand() *cobra.Command {
	var o exportFlags
	c := &cobra.Command{
		Use:   "export TRACE",
		Short: "Write a recording as a file for others",
		Long: `export writes what --trace or /record has recorded as a file for a browser, a player, a slide or a
spreadsheet. The end of the file's name says which:

` + formatList() + `
Everything is made from the recorded events, without a model and without a terminal.`,
		Example: `  specula run hello --trace hello.jsonl
  specula export hello.jsonl -o hello.csv
  specula export hello.jsonl --format md | less`,
		Args: arguments(1, 1),
		RunE: a.begin(func(_ *cobra.Command, args []string) error { return a.export(args[0], o) }),
	}
	c.Flags().StringVarP(&o.path, "output", "o", "", "the `FILE` to write; otherwise stdout")
	c.Flags().StringVar(&o.format, "format", "", "the `FORMAT`; otherwise the end of the file's name")
	c.Flags().StringVar(&o.size, "size", "100x30", "size of the screen in films and pictures, `COLUMNSxROWS`")
	c.Flags().IntVar(&o.round, "round", 0, "end films and pictures after round `N`; 0 for the whole recording")
	c.Flags().BoolVar(&o.force, "force", false, "replace a file that is there")
	a.addSettings(c, "ui")
	return c
}

// formatList describes the formats for help.
func formatList() string {
	var b strings.Builder
	for _, f := range export.Formats() {
		fmt.Fprintf(&b, "  .%-12s %s\n", f.Name, f.Doc)
	}
	return b.String()
}

func (a *invocation) export(path string, o exportFlags) error {
	format, err := o.formatOf()
	if err != nil {
		return &coded{ExitUsage, err}
	}
	records, err := readTrace(path)
	if err != nil {
		return err
	}
	source, err := a.sourceOf(records, o)
	if err != nil {
		return err
	}
	if len(source.Chat.Turns) == 0 {
		return fmt.Errorf("exporting %s: the trace holds no reply", path)
	}
	if o.path == "" || o.path == "-" {
		return format.Write(a.Terminal.Stdout, source)
	}
	return writeFile(o, func(w io.Writer) error { return format.Write(w, source) })
}

// sourceOf returns a recording in all forms that it can be exported in.
func (a *invocation) sourceOf(records []trace.Record, o exportFlags) (export.Source, error) {
	c, _, err := a.settings()
	if err != nil {
		return export.Source{}, err
	}
	w, h, err := o.cells()
	if err != nil {
		return export.Source{}, err
	}
	s := export.Source{Chat: export.ChatOf(records), Film: ui.Film(untilRound(records, o.round), c, w, h), Records: records}
	s.Film.Title = sanitize.Line(s.Chat.Title)
	s.Picture = s.Film
	return s, nil
}

// cells returns the width and height that --size gives, in cells.
func (o exportFlags) cells() (w, h int, err error) {
	if n, err := fmt.Sscanf(o.size+"\n", "%dx%d\n", &w, &h); n != 2 || err != nil || w < layout.MinWidth || h < layout.MinHeight || w > 500 || h > 200 {
		return 0, 0, usagef("--size cannot be %.32q: allowed is COLUMNSxROWS from %dx%d to 500x200", o.size, layout.MinWidth, layout.MinHeight)
	}
	return w, h, nil
}

// untilRound cuts a recording off after the first round that has this number in its reply. Rounds count from
// 1. If no round has the number, as with 0, nothing is cut.
func untilRound(records []trace.Record, round int) []trace.Record {
	for i, r := range records {
		if e, ok := r.Event.(event.Round); ok && e.Index+1 == round {
			return records[:i+1]
		}
	}
	return records
}

// formatOf returns the format that is asked for, by name or by the end of the file's name.
func (o exportFlags) formatOf() (export.Format, error) {
	switch {
	case o.format != "":
		return export.Named(o.format)
	case o.path == "" || o.path == "-":
		return export.Format{}, errors.New("stdout has no name that tells a format: add --format, or -o FILE")
	}
	return export.ForFile(o.path)
}

// writeFile writes a file. A file that it makes can only be read by its owner, and is removed if writing
// fails.
func writeFile(o exportFlags, write func(io.Writer) error) error {
	f, mine, err := createPrivate(o.path, o.force)
	if errors.Is(err, os.ErrExist) {
		return usagef("-o: %s is there already; choose another name, or add --force to replace it", o.path)
	}
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	err = errors.Join(write(f), f.Close())
	if err != nil && mine {
		err = errors.Join(err, os.Remove(o.path))
	}
	return err
}

// readTrace reads a whole recording, and describes its proposers in the words of this version.
func readTrace(path string) ([]trace.Record, error) {
	data, err := readBounded(path, maxTraceBytes)
	if err != nil {
		return nil, fmt.Errorf("reading the trace: %w; 'specula run PROMPT --trace FILE' makes one", err)
	}
	var records []trace.Record
	for r, err := range trace.Read(bytes.NewReader(data)) {
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		if ready, ok := r.Event.(event.Ready); ok {
			r.Event = engine.WithWords(ready)
		}
		records = append(records, r)
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("reading %s: the trace holds no events", path)
	}
	return records, nil
}
