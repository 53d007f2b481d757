package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"specula/engine/config"
	"specula/engine/remote"
)

// connect opens the server that the settings name.
func (a *App) connect(ctx context.Context, c config.Remote) (*remote.Server, error) {
	key, err := a.key(c.Key)
	if err != nil {
		return nil, err
	}
	return remote.Connect(ctx, remote.Options{
		URL: c.URL, Model: c.Model, Key: key, CA: c.CA, Certificate: c.Certificate, Headers: c.Headers,
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
