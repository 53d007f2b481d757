package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/remote"
)

// tellEvery is the time between two notices that a server is still waited for.
const tellEvery = 5 * time.Second

// connect opens the server that the settings name. While it waits for a server that loads its model, it emits notices.
func (a *App) connect(ctx context.Context, c config.Remote, emit func(event.Event)) (*remote.Server, error) {
	key, err := a.key(c.Key)
	if err != nil {
		return nil, err
	}
	var told time.Time
	waits := func(why string) {
		if now := a.Now(); now.Sub(told) >= tellEvery {
			told = now
			emit(event.Notice{Level: "info", Text: fmt.Sprintf("%s: asking again, for up to %g s in all (remote.timeout)", why, c.Timeout)})
		}
	}
	return remote.Connect(ctx, remote.Options{
		Waits: waits,
		URL:   c.URL, Model: c.Model, Key: key, CA: c.CA, Certificate: c.Certificate, Headers: c.Headers,
		Limit: time.Duration(c.Timeout * float64(time.Second)),
	})
}

// mostKey is the size limit of a file with a key, in bytes.
const mostKey = 64 << 10

// key reads a server's key from the environment variable or the @FILE that the setting names. The
// setting cannot be the key itself, which would then be visible in process lists, traces and exports.
func (a *App) key(from string) (string, error) {
	path, file := strings.CutPrefix(from, "@")
	if !file {
		if from == "" || a.Getenv == nil {
			return "", nil
		}
		return strings.TrimSpace(a.Getenv(from)), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the key that remote.key names: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostKey+1))
	switch key := strings.TrimSpace(string(text)); {
	case err != nil:
		return "", fmt.Errorf("reading the key that remote.key names: %w", err)
	case len(text) > mostKey, key == "", strings.ContainsAny(key, "\r\n"):
		return "", fmt.Errorf("the file %s that remote.key names holds no key: one line is expected", path)
	default:
		return key, nil
	}
}
