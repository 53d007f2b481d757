// Package race shows one prompt answered in two lanes, side by side or, in a narrow window, one above the other: with and
// without speculation, or with any two settings. It is a view of two streams of events; who runs them is no concern of its own.
package race

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"specula/engine/config"
	"specula/engine/event"
)

// Lane is one side: a name for people, and the settings in which it differs from those in force.
type Lane struct {
	Name     string
	Settings []config.Value
}

// Outcome says whether both lanes wrote the same.
type Outcome struct {
	Compared bool   `json:"compared"`
	Why      string `json:"why"` // they must be the same, or need not be, in words
	Same     bool   `json:"same"`
	Position int    `json:"position"` // of the first token that differs; -1 if none does
}

// Race runs both lanes.
type Race interface {
	// Run yields the events of both, each with its lane, 0 or 1.
	Run(ctx context.Context) iter.Seq2[int, event.Event]
	// Outcome holds after Run.
	Outcome() Outcome
	Close() error
}

// Plain is the lane without speculation.
const Plain = "speculate=off"

// ParseLane reads the settings of a lane: name=value, by commas or spaces between; "plain" and "now" stand for no speculation and
// no difference. What naming γ implies holds here as everywhere (config.Imply).
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

// ParseLanes reads "A vs B" for both lanes. One side alone races against no speculation, and nothing at all means the settings in
// force against no speculation.
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
