package keys

import (
	"fmt"
	"strings"
)

// Line is one row of the help overlay. A line without keys is a heading.
type Line struct{ Keys, Does string }

// Overlay returns the table as headed lines, ready to be drawn.
func Overlay() []Line {
	var out []Line
	heading := ""
	for _, b := range Bindings() {
		if h := headingOf(b); h != heading {
			heading = h
			out = append(out, Line{Does: h})
		}
		out = append(out, Line{Keys: spell(b.Keys, ", "), Does: b.Does})
	}
	return out
}

// Markdown returns the tables for docs/keys.md.
func Markdown() string {
	var sb strings.Builder
	heading := ""
	for _, b := range Bindings() {
		if h := headingOf(b); h != heading {
			heading = h
			fmt.Fprintf(&sb, "\n**%s**\n\n| key | what it does |\n|---|---|\n", h)
		}
		quoted := make([]string, len(b.Keys))
		for i, k := range b.Keys {
			quoted[i] = "`" + shown(k) + "`"
		}
		fmt.Fprintf(&sb, "| %s | %s |\n", strings.Join(quoted, " "), b.Does)
	}
	return strings.TrimPrefix(sb.String(), "\n")
}

func headingOf(b Binding) string {
	switch {
	case b.Focus == Everywhere && b.Action >= GammaUp && b.Action <= Speculate:
		return "Engine, also in mid-reply"
	case b.Focus == Everywhere:
		return "Screen and chat"
	case b.Focus == Read:
		return "In the reply (tab)"
	default:
		return "In the prompt"
	}
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
