package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// maxTraceBytes limits the size of a recording, which is read into memory. It is enough for hours of chat.
const maxTraceBytes = 128 << 20

// replayFlags say where a recording begins to play.
type replayFlags struct {
	at    time.Duration
	round int
}

func (a *invocation) replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay TRACE [TRACE]",
		Short: "Show a recorded reply again, without a model",
		Long: `replay plays a file that was recorded with --trace in the same screen as the live chat,
at any pace. The arrow keys go to other rounds, ctrl with an arrow to other times, and --at and --round
say where to begin. Where there is no screen, it prints the recorded answers as a whole.
Of two files it shows the first replies side by side on one axis of engine time, with their rounds,
their rates, and the first token that differs.`,
		Example: `  specula replay hello.jsonl --pace slow --rounds-per-second 4
  specula replay hello.jsonl --at 1.5s --pace step
  specula replay gamma2.jsonl gamma8.jsonl`,
		Args: arguments(1, 2),
		RunE: a.begin(func(c *cobra.Command, args []string) error {
			switch {
			case f.at < 0 || f.round < 0:
				return usagef("--at and --round count from the start: allowed is 0 or more")
			case f.at > 0 && f.round > 0:
				return usagef("--at and --round say both where to begin: give one of them")
			case len(args) == 2 && f != (replayFlags{}):
				return usagef("--at and --round are for one recording; two are shown as a whole")
			case len(args) == 2:
				return a.compare(c.Context(), args)
			}
			return a.replay(c.Context(), args[0], f)
		}),
	}
	c.Flags().DurationVar(&f.at, "at", 0, "begin after this `TIME` of the recording, such as 1.5s or 2m; what was before is shown at once")
	c.Flags().IntVar(&f.round, "round", 0, "begin after round `N` of the first reply")
	a.addSettings(c, "ui")
	return c
}

func (a *invocation) replay(ctx context.Context, path string, f replayFlags) error {
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
		return a.screenOf(ctx, c, records, f)
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
