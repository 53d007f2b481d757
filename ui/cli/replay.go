package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// maxTraceBytes limits the size of a recording, which is read as a whole. It is enough for hours of chat.
const maxTraceBytes = 128 << 20

func (a *invocation) replayCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "replay TRACE [TRACE]",
		Short: "Show a recorded reply again, without a model",
		Long: `replay plays a file that was recorded with --trace in the same screen as the live chat,
at any pace. Where there is no screen, it prints the recorded answers.
Of two files it shows the first replies side by side on one axis of engine time, with their rounds,
their rates, and the first token that differs.`,
		Example: `  specula replay hello.jsonl --pace slow --rounds-per-second 4
  specula replay gamma2.jsonl gamma8.jsonl`,
		Args: arguments(1, 2),
		RunE: a.begin(func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				return a.compare(c.Context(), args)
			}
			return a.replay(c.Context(), args[0])
		}),
	}
	a.addSettings(c, "ui")
	return c
}

func (a *invocation) replay(ctx context.Context, path string) error {
	onScreen := a.onScreen()
	c, _, err := a.settings()
	if err != nil {
		return err
	}
	records, err := readTrace(path)
	if err != nil {
		return err
	}
	if onScreen {
		return a.screenOf(ctx, c, records)
	}
	out, err := a.newOutput(c, runFlags{})
	if err != nil {
		return err
	}
	for _, r := range records {
		out.put(r.Event)
	}
	return errors.Join(out.err, out.close())
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes; at most %d are read", path, info.Size(), limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
