// Package export writes a chat for readers outside the program: as Markdown for people, as JSON for programs.
package export

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"specula/engine/event"
	"specula/ui/chats"
	"specula/ui/sanitize"
)

// Format is how a chat is written.
type Format string

// The formats; also the file extensions.
const (
	MarkdownFormat Format = "md"
	JSONFormat     Format = "json"
)

// Write writes a chat in a format.
func Write(w io.Writer, c chats.Chat, f Format) error {
	switch f {
	case MarkdownFormat:
		return Markdown(w, c)
	case JSONFormat:
		return JSON(w, c)
	}
	return fmt.Errorf("exporting a chat: format %.16q; allowed are md and json", f)
}

// Markdown writes the turns as they were written, since replies are often Markdown themselves, under headings that tell
// who speaks. Escape sequences do not survive: a Markdown file is often shown with cat.
func Markdown(w io.Writer, c chats.Chat) error {
	var sb strings.Builder
	fmt.Fprintf(&sb, "# %s\n\n", sanitize.Line(c.Title))
	fmt.Fprintf(&sb, "%s", c.Created.Format("2006-01-02 15:04"))
	if c.Model != "" {
		fmt.Fprintf(&sb, " · %s", sanitize.Line(c.Model))
	}
	sb.WriteString("\n")
	if c.System != "" {
		fmt.Fprintf(&sb, "\n## System\n\n%s\n", block(c.System))
	}
	for _, t := range c.Turns {
		if t.Role == "user" {
			fmt.Fprintf(&sb, "\n## You\n\n%s\n", block(t.Text))
			continue
		}
		fmt.Fprintf(&sb, "\n## Model\n\n%s\n", block(t.Text))
		if note := figures(t); note != "" {
			fmt.Fprintf(&sb, "\n*%s*\n", note)
		}
	}
	if _, err := io.WriteString(w, sb.String()); err != nil {
		return fmt.Errorf("exporting a chat: %w", err)
	}
	return nil
}

// JSON writes the chat as it is saved, raw text included.
func JSON(w io.Writer, c chats.Chat) error {
	c.Version = chats.Version
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return fmt.Errorf("exporting a chat: %w", err)
	}
	return nil
}

// figures sums a reply up in words; empty when nothing is known about it.
func figures(t chats.Turn) string {
	var parts []string
	if t.Reason != "" && t.Reason != "stop" {
		parts = append(parts, "ended: "+sanitize.Line(t.Reason))
	}
	if s := t.Totals; s != nil && s.Rounds > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens in %d passes of the target", s.Tokens, s.Rounds))
		if s.Tested > 0 {
			parts = append(parts, fmt.Sprintf("%d %% of tested draft tokens accepted", percent(s)))
		}
	}
	return strings.Join(parts, " · ")
}

func percent(s *event.Totals) int { return (200*s.Accepted/s.Tested + 1) / 2 }

// block is safe text without blank lines around it, so that headings keep their distance.
func block(s string) string { return strings.Trim(sanitize.Text(s), "\n") }
