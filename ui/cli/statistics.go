package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"specula/engine/event"
)

// statistics sums a reply up in one line. A rate or ratio with nothing to divide by is shown as –.
func statistics(e event.ReplyEnded) string {
	t := e.Totals
	prompt := "–" // nothing was read, or a server read it in the first round
	if t.PrefillMS > 0 {
		prompt = fmt.Sprintf("%.0f ms", t.PrefillMS)
	}
	parts := []string{
		fmt.Sprintf("%d tokens", t.Tokens),
		ratio(1000*float64(t.Tokens), t.DecodeMS(), 1) + " tokens/s",
		ratio(float64(t.Tokens), float64(t.Rounds), 2) + " tokens per target pass",
		fmt.Sprintf("acceptance %s %% (%d of %d)", ratio(100*float64(t.Accepted), float64(t.Tested), 0), t.Accepted, t.Tested),
		"speed-up " + speedup(t),
		"prompt " + prompt,
	}
	switch e.Reason {
	case "stop", "stop string":
	default:
		parts = append(parts, "ended by "+e.Reason)
	}
	return strings.Join(parts, " · ")
}

// ratio formats a/b with so many digits after the point, or – if b ≤ 0.
func ratio(a, b float64, digits int) string {
	if b <= 0 {
		return "–"
	}
	return strconv.FormatFloat(a/b, 'f', digits, 64)
}

// speedup formats the speed-up. It marks an estimate, and says if drafting has lost time.
func speedup(t event.Totals) string {
	if t.Speedup <= 0 {
		return "–"
	}
	text := fmt.Sprintf("×%.2f", t.Speedup)
	if t.SpeedupEstimated {
		text = "≈" + text
	}
	if event.Loses(t.Speedup) {
		text += ", slower than without speculation"
	}
	return text
}

// escapeJSON writes control and invisible format characters, which encoding/json does not escape, as \u
// escapes. The line means the same and is safe for a terminal.
func escapeJSON(line string) string {
	if strings.IndexFunc(line, invisible) < 0 {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		switch {
		case !invisible(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func invisible(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }
