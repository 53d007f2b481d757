package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"specula/ui/sanitize"
)

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "Print what a model file is",
		Long: `info reads a GGUF file and prints its architecture, size, types, vocabulary, metadata and
tensors. A file that is damaged or malformed is refused with exit code 3, and the error
names the field, its place in the file, what was found and what is allowed.`,
		Args: cobra.ExactArgs(1),
		RunE: a.begin(func(c *cobra.Command, args []string) error { return a.info(c.Context(), args[0]) }),
	}
}

func (a *app) info(ctx context.Context, path string) error {
	sections, err := a.Describe(ctx, path)
	if err != nil {
		return a.classify(err)
	}
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

// writeSection prints rows with their columns aligned. Cells come from a file and are made safe here.
func writeSection(b *strings.Builder, s Section) {
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
			widths[j] = min(max(widths[j], ansi.StringWidth(cell)), maxColumn)
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

// maxColumn keeps one long cell from pushing all others off the screen.
const maxColumn = 48
