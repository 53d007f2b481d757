package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"specula/engine/event"
	"specula/ui/sanitize"
)

func (a *invocation) infoCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "info [FILE]",
		Short: "Print what a model file is, or with what a chat would be written",
		Long: `info reads a GGUF file and prints its tensors, metadata, types, architecture, size and
vocabulary, and last whether it can be loaded, or why not. A file that is damaged or malformed is refused with exit code 3, and the error
names the field, its place in the file, what was found and what is allowed.

Without a file it loads the models that the settings name and prints what they are, on which
device they run, and which ways to draft are available, or why not.`,
		Args: arguments(0, 1),
	}
	c.RunE = a.begin(func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return a.infoReady(c.Context())
		}
		return a.info(c.Context(), args[0])
	})
	a.addSettings(c)
	return c
}

// infoReady loads the models and the device of the settings, and prints them.
func (a *invocation) infoReady(ctx context.Context) error {
	config, err := a.toldSettings()
	if err != nil {
		return err
	}
	var ready event.Ready
	session, err := a.Open(ctx, config, func(e event.Event) {
		if r, ok := e.(event.Ready); ok {
			ready = r
		}
	})
	if err != nil {
		return a.classify(err)
	}
	draft := []string{"draft", "none", ready.DraftRefused}
	if ready.Draft != nil {
		draft = []string{"draft", ready.Draft.Name, ready.Draft.Path}
	}
	models := event.Table{Rows: [][]string{
		{"target", ready.Target.Name, ready.Target.Path}, draft,
		{"device", ready.Device}, {"", ready.DeviceWhy},
	}}
	if ready.DeviceDetail != "" {
		models.Rows = append(models.Rows, []string{"", ready.DeviceDetail})
	}
	if !ready.Warned("template") {
		models.Rows = append(models.Rows, []string{"template", ready.Template})
	}
	if ready.Unspelled != "" {
		models.Rows = append(models.Rows, []string{"bytes", "no token for " + ready.Unspelled})
	}
	for _, w := range ready.Warnings {
		models.Rows = append(models.Rows, []string{"warning", w.About + ": " + w.Text}, []string{"", w.Do})
	}
	if ready.Heads != "" {
		for i, heads := range strings.Split(ready.Heads, "; ") {
			models.Rows = slices.Insert(models.Rows, 2+i, []string{"heads", heads})
		}
	}
	ways := event.Table{Title: "ways to draft (--proposer)"}
	if ready.Auto != nil {
		ways.Rows = append(ways.Rows, []string{"auto", ready.Auto.Proposer, ready.Auto.Why})
	}
	for _, p := range ready.Proposers {
		row := []string{p.Name, "available"}
		if p.Refused != "" {
			row = []string{p.Name, "not available", p.Refused}
		}
		ways.Rows = append(ways.Rows, row)
	}
	return errors.Join(a.print(models, ways), session.Close())
}

func (a *invocation) info(ctx context.Context, path string) error {
	sections, err := a.Describe(ctx, path)
	if err != nil {
		return a.classify(err)
	}
	return a.print(sections...)
}

func (a *invocation) print(sections ...event.Table) error {
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		writeSection(&b, s)
	}
	if _, err := fmt.Fprint(a.Terminal.Stdout, b.String()); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// writeSection prints rows with aligned columns. The last cell of a row may be long and does not widen its
// column. Cells come from a file and are made safe here.
func writeSection(b *strings.Builder, s event.Table) {
	if s.Title != "" {
		fmt.Fprintln(b, sanitize.Line(s.Title))
	}
	var widths []int
	rows := make([][]string, len(s.Rows))
	for i, row := range s.Rows {
		for j, cell := range row {
			cell = sanitize.Line(cell)
			rows[i] = append(rows[i], cell)
			if j == len(widths) {
				widths = append(widths, 0)
			}
			if j < len(row)-1 {
				widths[j] = min(max(widths[j], ansi.StringWidth(cell)), maxColumn)
			}
		}
	}
	for _, row := range rows {
		line := "  "
		for j, cell := range row {
			line += cell + strings.Repeat(" ", max(0, widths[j]-ansi.StringWidth(cell))+2)
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
}

// maxColumn limits the width in cells of a column, so that one long text does not push the others off the
// screen.
const maxColumn = 48
