package keys

import (
	"fmt"
	"strings"
)

// Line is one row of the help overlay. A line without keys is a heading.
type Line struct{ Keys, Does string }

// Overlay returns the table as lines for the help, with a heading before each section.
func Overlay() []Line {
	var out []Line
	for _, s := range sections() {
		out = append(out, Line{Does: s.heading})
		for _, b := range s.bindings {
			out = append(out, Line{Keys: spell(b.Keys, ", "), Does: b.Does})
		}
	}
	return out
}

// Markdown returns the tables for docs/keys.md.
func Markdown() string {
	var sb strings.Builder
	for _, s := range sections() {
		fmt.Fprintf(&sb, "\n**%s**\n\n| key | what it does |\n|---|---|\n", s.heading)
		for _, b := range s.bindings {
			fmt.Fprintf(&sb, "| `%s` | %s |\n", spell(b.Keys, "` `"), b.Does)
		}
	}
	return strings.TrimPrefix(sb.String(), "\n")
}

func spell(keys []string, between string) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = shown(k)
	}
	return strings.Join(out, between)
}

// shown replaces the names of the arrow keys by arrows.
func shown(k string) string {
	head, last := "", k
	if i := strings.LastIndexByte(k, '+'); i >= 0 && i < len(k)-1 {
		head, last = k[:i+1], k[i+1:]
	}
	switch last {
	case "up":
		last = "↑"
	case "down":
		last = "↓"
	case "left":
		last = "←"
	case "right":
		last = "→"
	}
	return head + last
}
