package pane

import (
	"fmt"
	"strings"

	"specula/ui/theme"
)

// Numbers on the screen have fixed decimals and a separate unit, so that nothing moves while they change.

// figure formats v with the given decimals. Without ok it returns the sign for "not measured yet".
func figure(th *theme.Theme, v float64, ok bool, decimals int) string {
	if !ok {
		return th.Glyph.None
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

// percent formats share, from 0 to 1, in percent. Without ok it returns the sign for "not measured yet".
func percent(th *theme.Theme, share float64, ok bool) string {
	if !ok {
		return th.Glyph.None
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// milliseconds formats a time with two decimals; from 10 ms on with one, from 100 ms on with none.
func milliseconds(ms float64) string {
	switch {
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	default:
		return fmt.Sprintf("%.2f ms", ms)
	}
}

// bytes formats a size with a decimal unit.
func bytes(n float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		switch {
		case n < 9.95 && unit != "B":
			return fmt.Sprintf("%.1f %s", n, unit)
		case n < 999.5:
			return fmt.Sprintf("%.0f %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.1f TB", n)
}

// count formats a number of tokens or parameters: 512, 1.2k, 8k, 12.3M.
func count(n int64) string {
	v := float64(n)
	for _, unit := range []string{"", "k", "M", "G"} {
		if v < 999.5 || unit == "G" {
			text := fmt.Sprintf("%.1f", v)
			return strings.TrimSuffix(text, ".0") + unit
		}
		v /= 1000
	}
	return ""
}

// probability formats p in at most six cells: with four decimals or, below 0.0001, with an exponent.
func probability(p float64) string {
	if p > 0 && p < 0.0001 {
		return fmt.Sprintf("%.0e", p)
	}
	return fmt.Sprintf("%.4f", p)
}
