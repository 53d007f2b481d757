// Package race shows two replies to one prompt in two lanes: with and without speculation, or with any
// two settings. The lanes are side by side or, in a narrow window, one above the other. A Race, which the
// engine implements, yields the events; this package only shows them.
package race

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
)

// Lane is one side of a race: a name for people, and the settings that differ from the current ones.
type Lane struct {
	Name     string
	Settings []config.Value
}

// Race runs both lanes.
type Race interface {
	// Run answers the messages in both lanes and yields their events, each with the number of its
	// lane, 0 or 1.
	Run(ctx context.Context, messages []engine.Message) iter.Seq2[int, event.Event]
	// Outcome returns the result; call it after Run.
	Outcome() event.RaceOutcome
	Close() error
}

// The texts of the usual lanes: without and with speculation.
const (
	Plain = "speculate=off"
	With  = "speculate=on"
)

// ParseLane parses the settings of a lane: name=value, separated by commas or spaces. "plain" means no
// speculation; "now" changes nothing. γ without a rule sets the rule to fixed (config.Imply).
func ParseLane(text string) (Lane, error) {
	var l Lane
	for _, part := range strings.FieldsFunc(text, between) {
		switch part {
		case "now":
			continue
		case "plain":
			part = Plain
		}
		name, value, ok := strings.Cut(part, "=")
		s, known := config.Lookup(name)
		switch {
		case !ok:
			return l, fmt.Errorf("%.64q is not NAME=VALUE, such as gamma=4 or proposer=ngram", part)
		case !known:
			return l, fmt.Errorf("there is no setting %.64q%s", name, nearest(name))
		}
		l.Settings = append(l.Settings, config.Value{Name: s.Name, Text: value})
	}
	l.Name = nameOf(l.Settings)
	var note string
	var err error
	if l.Settings, note, err = config.Imply(l.Settings); err != nil {
		return l, err
	}
	if note != "" {
		l.Name += " (" + note + ")"
	}
	return l, nil
}

// nameOf says in plain words what a lane does.
func nameOf(settings []config.Value) string {
	words := make([]string, len(settings))
	for i, v := range settings {
		s, _ := config.Lookup(v.Name)
		switch on := config.Default(); {
		case v.Name != "speculation.enabled":
			words[i] = strings.TrimSpace(s.Flag + " " + v.Text)
		case on.SetAll(v) == nil && on.Speculation.Enabled:
			words[i] = "with speculation"
		default:
			words[i] = "without speculation"
		}
	}
	return cmp.Or(strings.Join(words, ", "), "as set")
}

// Comparable makes the texts of two lanes comparable. also are settings that both lanes have besides their
// own. Comparable sets temperature 0, at which only one text is right. If a temperature is among the
// settings, it sets the acceptance rule exact instead, under which one seed gives one text. If an acceptance
// rule is among the settings, it changes nothing.
func Comparable(lanes [2]Lane, also ...config.Value) [2]Lane {
	asked := slices.Concat(also, lanes[0].Settings, lanes[1].Settings)
	names := func(name string) bool {
		return slices.ContainsFunc(asked, func(v config.Value) bool { return v.Name == name })
	}
	more := config.Value{Name: "sampling.temperature", Text: "0"}
	switch {
	case names("speculation.acceptance"):
		return lanes
	case names(more.Name):
		more = config.Value{Name: "speculation.acceptance", Text: "exact"}
	}
	for i, l := range lanes {
		lanes[i].Settings = append(slices.Clone(l.Settings), more)
	}
	return lanes
}

func between(r rune) bool { return r == ',' || r == ' ' }

func nearest(name string) string {
	var names []string
	for _, s := range config.Settings() {
		names = append(names, s.Flag)
	}
	if near := config.Nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// ParseLanes parses "A vs B". If text names only one lane, this is the second one, and the first
// lane is without speculation. For "" the second lane is with speculation.
func ParseLanes(text string) (lanes [2]Lane, err error) {
	left, right, both := strings.Cut(" "+text+" ", " vs ")
	if !both {
		left, right = Plain, cmp.Or(strings.TrimSpace(text), With)
	}
	if lanes[0], err = ParseLane(left); err != nil {
		return lanes, err
	}
	lanes[1], err = ParseLane(right)
	return lanes, err
}
