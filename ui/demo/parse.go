package demo

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"specula/engine/config"
	"specula/ui/pace"
	"specula/ui/race"
	"specula/ui/sanitize"
)

// The limits of a script.
const (
	MaxBytes     = 1 << 20
	maxActions   = 10_000
	maxCaption   = 300      // characters, so that a caption fits into a small window
	maxPrompt    = 16 << 10 // characters, also of a file's name
	maxSteps     = 1000     // of one action
	longestWait  = time.Hour
	maxErrors    = 20 // mistakes after which Parse stops
	secondsInDoc = "a time such as 3s or 500ms, up to 1h"
)

// Error says what is wrong in a line.
type Error struct {
	File         string
	Line         int
	Got, Allowed string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d: got %s; allowed is %s", e.File, e.Line, e.Got, e.Allowed)
}

// Parse reads a script. Its error lists the mistakes, at most maxErrors, each an *Error.
func Parse(name, text string) (*Script, error) {
	p := parser{name: name}
	s := &Script{Name: name}
	if len(text) > MaxBytes {
		return nil, p.refuse(fmt.Sprintf("%d bytes", len(text)), fmt.Sprintf("at most %d", MaxBytes))
	}
	if !utf8.ValidString(text) {
		return nil, p.refuse("bytes that are not UTF-8", "text in UTF-8")
	}
	for line := range strings.Lines(text) {
		p.line++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		a, err := p.action(line)
		if err != nil {
			p.errs = append(p.errs, err)
			if len(p.errs) == maxErrors {
				break
			}
			continue
		}
		a.Line = p.line
		if len(s.Actions) == 0 && a.Kind != Scene {
			s.Actions = append(s.Actions, Action{Kind: Scene, Text: title(name)})
		}
		if s.Actions = append(s.Actions, a); len(s.Actions) > maxActions {
			p.errs = append(p.errs, p.refuse("more actions", fmt.Sprintf("at most %d", maxActions)))
			break
		}
	}
	if len(s.Actions) == 0 && len(p.errs) == 0 {
		p.errs = append(p.errs, p.refuse("no action", "at least one line such as: ask What is a token?"))
	}
	return s, errors.Join(p.errs...)
}

// title makes a title of a file's name.
func title(name string) string {
	base := filepath.Base(name)
	return sanitize.Line(strings.TrimSuffix(base, filepath.Ext(base)))
}

type parser struct {
	name string
	line int
	errs []error
}

func (p *parser) refuse(got, allowed string) error {
	return &Error{File: p.name, Line: max(p.line, 1), Got: got, Allowed: allowed}
}

// The pictures that the action «show» can put first.
const (
	ShowTradeoff = "tradeoff"
	ShowRounds   = "rounds"
)

// verbs are the words that a line begins with.
const verbs = "scene, say, ask, set, pace, step, race, show, record or wait"

func (p *parser) action(line string) (Action, error) {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "scene":
		return p.text(Scene, rest, "a title", maxCaption)
	case "say":
		return p.say(rest)
	case "ask":
		return p.text(Ask, rest, "a prompt", maxPrompt)
	case "set":
		return p.set(rest)
	case "pace":
		return p.pace(rest)
	case "step":
		n, err := strconv.Atoi(rest)
		if rest == "" {
			n, err = 1, nil
		}
		if err != nil || n < 1 || n > maxSteps {
			return Action{}, p.refuse("step "+quote(rest), fmt.Sprintf("a number from 1 to %d", maxSteps))
		}
		return Action{Kind: Step, Steps: n}, nil
	case "race":
		lanes, err := race.ParseLanes(rest)
		if err != nil {
			return Action{}, p.refuse("race "+quote(rest)+": "+err.Error(), "settings A vs B, such as gamma=2 vs gamma=8, or nothing")
		}
		return Action{Kind: Race, Lanes: race.Comparable(lanes)}, nil
	case "show":
		if rest != ShowTradeoff && rest != ShowRounds {
			return Action{}, p.refuse("show "+quote(rest), ShowTradeoff+" or "+ShowRounds)
		}
		return Action{Kind: Show, Text: rest}, nil
	case "record":
		return p.text(Record, rest, "a file", maxPrompt)
	case "wait":
		return p.wait(rest)
	}
	return Action{}, p.refuse(quote(verb), verbs)
}

// text reads a text that is the rest of a line.
func (p *parser) text(k Kind, rest, what string, limit int) (Action, error) {
	if n := utf8.RuneCountInString(rest); rest == "" || n > limit {
		return Action{}, p.refuse(fmt.Sprintf("%s with %d characters", k, n), fmt.Sprintf("%s of 1 to %d characters", what, limit))
	}
	return Action{Kind: k, Text: rest}, nil
}

// say reads a caption, with or without quotes. Two quotes with nothing between them clear the caption.
func (p *parser) say(rest string) (Action, error) {
	if strings.HasPrefix(rest, `"`) {
		text, err := strconv.Unquote(rest)
		if err != nil {
			return Action{}, p.refuse("a caption without its closing quote", `a text between two quotes, with \" for a quote inside`)
		}
		if rest = text; rest == "" {
			return Action{Kind: Say}, nil
		}
	}
	return p.text(Say, rest, "a caption", maxCaption)
}

func (p *parser) set(rest string) (Action, error) {
	lane, err := race.ParseLane(rest)
	switch c := config.Default(); {
	case rest == "":
		return Action{}, p.refuse("set without a setting", "NAME=VALUE, such as gamma=4 or temperature=0.9")
	case err != nil:
		return Action{}, p.refuse("set "+quote(rest)+": "+err.Error(), "NAME=VALUE, such as gamma=4 or temperature=0.9")
	default:
		var refused *config.ValueError
		if err := c.SetAll(lane.Settings...); errors.As(err, &refused) && refused.Why == nil {
			return Action{}, p.refuse("set "+quote(rest), refused.Allowed)
		} else if err != nil {
			return Action{}, p.refuse("set "+quote(rest)+": "+err.Error(), "NAME=VALUE")
		}
	}
	for _, v := range lane.Settings {
		if s, _ := config.Lookup(v.Name); s.Slash == "" || s.Section() == "ui" && s.Key() == "pace" {
			return Action{}, p.refuse("set "+quote(v.Name), "a setting that changes while the program runs; the pace has a line of its own")
		}
	}
	return Action{Kind: Set, Settings: lane.Settings}, nil
}

func (p *parser) pace(rest string) (Action, error) {
	name, speed, given := strings.Cut(rest, " ")
	a := Action{Kind: Pace, Text: name}
	_, err := pace.Parse(name)
	if given && err == nil {
		a.Rounds, err = strconv.ParseFloat(strings.TrimSpace(speed), 64)
	}
	if err != nil || given && (name != pace.Slow.String() || !(a.Rounds >= pace.MinRounds && a.Rounds <= pace.MaxRounds)) {
		return Action{}, p.refuse("pace "+quote(rest), fmt.Sprintf("full, step, or slow with rounds a second from %g to %g", pace.MinRounds, float64(pace.MaxRounds)))
	}
	return a, nil
}

func (p *parser) wait(rest string) (Action, error) {
	switch rest {
	case "":
		return Action{Kind: Wait}, nil
	case "key":
		return Action{Kind: Wait, Key: true}, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d <= 0 || d > longestWait {
		return Action{}, p.refuse("wait "+quote(rest), "key, nothing, or "+secondsInDoc)
	}
	return Action{Kind: Wait, For: d}, nil
}

func quote(text string) string { return fmt.Sprintf("%.40q", text) }
