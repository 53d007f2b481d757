// Package race shows two replies to one prompt in two lanes: with and without speculation, or with any
// two settings. The lanes are side by side or, in a narrow window, one above the other. A Race yields
// the events; this package only shows them.
package race

import (
	"context"
	"fmt"
	"iter"
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

// Plain is the text of the lane without speculation.
const Plain = "speculate=off"

// ParseLane parses the settings of a lane: name=value, separated by commas or spaces. "plain" means no
// speculation; "now" or "" means the current settings. As everywhere, naming γ also sets the rule to
// fixed (config.Imply).
func ParseLane(text string) (Lane, error) {
	text = strings.TrimSpace(text)
	switch text {
	case "plain":
		text = Plain
	case "", "now":
		return Lane{Name: "the settings in force"}, nil
	}
	l := Lane{Name: strings.Join(strings.FieldsFunc(text, between), "  ")}
	for _, part := range strings.FieldsFunc(text, between) {
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
	var note string
	var err error
	if l.Settings, note, err = config.Imply(l.Settings); err != nil {
		return l, err
	}
	if note != "" {
		l.Name += "  (" + note + ")"
	}
	return l, nil
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

// ParseLanes parses "A vs B". If text names one lane only, it becomes the second, and the first is
// without speculation. "" stands for one lane with the current settings.
func ParseLanes(text string) (lanes [2]Lane, err error) {
	left, right, both := strings.Cut(" "+text+" ", " vs ")
	if !both {
		left, right = "plain", text
	}
	if lanes[0], err = ParseLane(left); err != nil {
		return lanes, err
	}
	lanes[1], err = ParseLane(right)
	return lanes, err
}
