package film

import (
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Cast2 writes the film as an asciicast, version 2: the format of asciinema. Each Frame.Mark becomes a
// marker.
func (f Film) Cast2(w io.Writer) error { return f.cast(w, 2) }

// Cast3 is Cast2 in version 3 of the format.
func (f Film) Cast3(w io.Writer) error { return f.cast(w, 3) }

func (f Film) cast(w io.Writer, version int) error {
	c := castWriter{w: w, version: version}
	c.line(f.header(version))
	var shown []string
	for frame := range f.Frames {
		if frame.Mark != "" {
			c.event(frame.At.Seconds(), "m", frame.Mark)
		}
		lines := strings.Split(frame.Screen, "\n")
		if text := difference(shown, lines); text != "" {
			c.event(frame.At.Seconds(), "o", text)
		}
		shown = lines
		c.end = frame.At.Seconds()
	}
	c.event(c.end, "o", ansi.ResetStyle) // so that the last frame stays for its time
	if c.err != nil {
		return fmt.Errorf("writing an asciicast: %w", c.err)
	}
	return nil
}

// difference returns the text that updates a terminal. shown holds the lines that it shows now, lines those
// that it has to show. If shown is nil, the terminal is new, and the text clears it first.
func difference(shown, lines []string) string {
	var b strings.Builder
	if shown == nil {
		b.WriteString(ansi.ResetModeTextCursorEnable + ansi.EraseEntireScreen)
	}
	for y, line := range lines {
		if y >= len(shown) || shown[y] != line {
			b.WriteString(ansi.CursorPosition(1, y+1) + line + ansi.ResetStyle)
		}
	}
	return b.String()
}

// castWriter writes the lines of an asciicast and keeps the first error.
type castWriter struct {
	w       io.Writer
	version int
	last    float64 // time of the last event, in seconds
	end     float64 // time of the last frame, in seconds
	err     error
}

func (c *castWriter) line(v any) {
	if c.err != nil {
		return
	}
	data, err := json.Marshal(v)
	if err == nil {
		_, err = c.w.Write(append(data, '\n'))
	}
	c.err = err
}

// event writes an event. Version 2 has times since the beginning, version 3 since the event before.
func (c *castWriter) event(at float64, code, data string) {
	at = math.Round(at*1e6) / 1e6
	t := at
	if c.version == 3 {
		t = math.Round((at-c.last)*1e6) / 1e6
	}
	c.last = at
	c.line([]any{t, code, data})
}

type (
	castTheme struct {
		Fg      string `json:"fg"`
		Bg      string `json:"bg"`
		Palette string `json:"palette"`
	}
	castTerm struct {
		Cols  int       `json:"cols"`
		Rows  int       `json:"rows"`
		Type  string    `json:"type"`
		Theme castTheme `json:"theme"`
	}
)

func (f Film) header(version int) any {
	c := f.colours()
	var palette []string
	for _, p := range c.ansi {
		palette = append(palette, hex(p))
	}
	theme := castTheme{hex(c.fore), hex(c.back), strings.Join(palette, ":")}
	if version == 3 {
		return struct {
			Version int      `json:"version"`
			Term    castTerm `json:"term"`
			Title   string   `json:"title,omitempty"`
		}{3, castTerm{f.W, f.H, "xterm-256color", theme}, f.Title}
	}
	return struct {
		Version int               `json:"version"`
		Width   int               `json:"width"`
		Height  int               `json:"height"`
		Title   string            `json:"title,omitempty"`
		Env     map[string]string `json:"env"`
		Theme   castTheme         `json:"theme"`
	}{2, f.W, f.H, f.Title, map[string]string{"TERM": "xterm-256color"}, theme}
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
