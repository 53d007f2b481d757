package race

import (
	"fmt"

	"specula/engine/event"
	"specula/ui/theme"
)

// Verdict is the outcome of a race in words.
type Verdict struct {
	Times float64 // the speed of the second lane divided by that of the first; 0 if not measured
	Text  string  // "the same text"
	Same  bool    // the texts were compared and are equal
	Wrong bool    // the texts differ and must not
	Why   string  // why the texts must be equal, or may differ
}

// Judge returns the verdict on a race with the lanes a and b.
func Judge(a, b *Count, o event.RaceOutcome) Verdict {
	v := Verdict{Times: b.over(a), Why: o.Why}
	from := o.Position + 1 // Position counts from 0, the words from 1
	switch {
	case !o.Compared:
		v.Text = "texts not compared"
	case o.Same:
		v.Text, v.Same = "the same text", true
	case o.Free:
		v.Text = fmt.Sprintf("the texts differ from token %d on", from)
	default:
		v.Text, v.Wrong = "THE TEXTS DIFFER", true
		v.Why = fmt.Sprintf("from token %d on, and must not: %s", from, o.Why)
	}
	return v
}

// Factor returns how many times as fast the second lane was, such as "×3.8". times is the sign before the
// number, × or x. It returns "" if the speeds were not measured.
func (v *Verdict) Factor(times string) string {
	switch {
	case v.Times <= 0:
		return ""
	case v.Times >= 10:
		return fmt.Sprintf("%s%.0f", times, v.Times)
	case v.Times >= 2:
		return fmt.Sprintf("%s%.1f", times, v.Times)
	}
	return fmt.Sprintf("%s%.2f", times, v.Times)
}

// Comparison names the second lane and compares it with the first: "faster with speculation".
func (v *Verdict) Comparison(lane string) string {
	switch {
	case v.Times <= 0:
		return ""
	case event.Loses(v.Times):
		return "slower " + after(lane)
	case v.Times < 1.005:
		return "as fast " + after(lane)
	}
	return "faster " + after(lane)
}

// after returns the name of a lane in the form that follows a comparison.
func after(lane string) string {
	switch lane {
	case "with speculation", "without speculation":
		return lane
	}
	return "with " + lane
}

// Words returns the whole verdict on one line: "×3.8 faster with speculation · the same text ✓".
func (v *Verdict) Words(lane string, g theme.Glyphs) string {
	text := v.Text
	switch {
	case v.Wrong:
		text += " " + g.Cross
	case v.Same:
		text += " " + g.Check
	}
	if factor := v.Factor(g.Times); factor != "" {
		return factor + " " + v.Comparison(lane) + " " + g.Separator + " " + text
	}
	return text
}
