package export

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"specula/engine/config"
	"specula/engine/event"
	"specula/ui/chats"
	"specula/ui/sanitize"
)

// Markdown writes each turn under a heading that names the speaker. Turns are not escaped, because
// replies are often Markdown themselves. Terminal escape sequences are removed, because a Markdown file
// is often shown with cat.
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
	for i, t := range c.Turns {
		if t.Role == "user" {
			fmt.Fprintf(&sb, "\n## You\n\n%s\n", block(t.Text))
			continue
		}
		fmt.Fprintf(&sb, "\n## Model\n\n%s\n", block(t.Text))
		if note := figures(t); note != "" {
			fmt.Fprintf(&sb, "\n*%s*\n", note)
		}
		switch flags := settings(t); {
		case flags == "":
		case changedWithin(t):
			fmt.Fprintf(&sb, "\nBegun with these settings, which changed before its end:\n\n    %s\n", flags)
		case i == 1 && c.Turns[0].Role == "user":
			fmt.Fprintf(&sb, "\nThe same reply again:\n\n    specula run %s -p %s\n", flags, quoted(sanitize.Text(c.Turns[0].Text)))
		default: // one command cannot repeat this reply: it depends on the messages before it
			fmt.Fprintf(&sb, "\nWritten with:\n\n    %s\n", flags)
		}
	}
	_, err := io.WriteString(w, sb.String())
	return err
}

// figures returns the numbers of a reply in words; "" if none is known.
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

// changedWithin reports whether settings changed while the reply was written.
func changedWithin(t chats.Turn) bool {
	return slices.ContainsFunc(t.Record.Events, func(e event.Event) bool {
		c, ok := e.(event.SettingChanged)
		return ok && c.Round > 0
	})
}

// settings returns the settings of a reply as flags: those that differ from the defaults, the seed,
// and the drafts. It returns "" if nothing is recorded about the reply.
func settings(t chats.Turn) string {
	if t.Record == nil {
		return ""
	}
	var flags []string
	for _, s := range config.Settings() {
		value, ok := t.Record.Started.Config[s.Name]
		if !ok {
			continue
		}
		values := []string{value}
		if s.Kind == config.List && json.Unmarshal([]byte(value), &values) == nil && len(values) == 0 {
			values = []string{""} // an empty value clears the list
		}
		for _, v := range values {
			flags = append(flags, "--"+s.Flag+"="+quoted(sanitize.Copy(v)))
		}
	}
	if t.Record.Drafts != "" {
		flags = append(flags, "--drafts="+quoted(sanitize.Line(t.Record.Drafts)))
	}
	return strings.Join(flags, " ")
}

// quoted returns text as one word, on one line, of a command for bash or zsh.
func quoted(text string) string {
	switch {
	case text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,=@/_-") == "":
		return text
	case strings.ContainsAny(text, "\n\t"):
		return "$'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`).Replace(text) + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func percent(s *event.Totals) int { return (200*s.Accepted/s.Tested + 1) / 2 }

// block returns s as safe text without blank lines before and after it.
func block(s string) string { return strings.Trim(sanitize.Copy(s), "\n") }
