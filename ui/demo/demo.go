// Package demo reads demo scripts and plays them. A script is a text file with one action a line:
//
//	scene A refused token              # begins anew: an empty chat, the settings of the start
//	say "Watch the words in orange."   # a caption, until the next one
//	set proposer=eagle temperature=0.9
//	pace slow 2                        # full, slow with rounds a second, or step
//	ask What is a residual?            # goes on when the reply is complete; under pace step, at once
//	step 3                             # shows three phases of a round, under pace step
//	race gamma=2 vs gamma=8            # the last prompt, or an example, in two lanes
//	record talk.jsonl                  # records the session since its start, like /record
//	show tradeoff                      # the trade-off of draft lengths first; show rounds: the rounds again
//	wait                               # as long as the caption takes to read
//	wait 3s
//	wait key
//
// [Parse] checks a whole script before anything is played. A [Player] says which action comes next; it has
// no clock and does nothing itself, so that tests and the screen play the same.
package demo

import (
	"fmt"
	"time"

	"specula/engine/config"
	"specula/ui/race"
)

// Kind is what an action does.
type Kind int

// The kinds. A script cannot contain Stop: the player emits it to end a reply or race that the next
// scene, ask or race does not wait for.
const (
	Scene Kind = iota
	Say
	Ask
	Set
	Pace
	Step
	Race
	Show
	Record
	Wait
	Stop
)

func (k Kind) String() string {
	return [...]string{"scene", "say", "ask", "set", "pace", "step", "race", "show", "record", "wait", "stop"}[k]
}

// Action is one line of a script.
type Action struct {
	Kind     Kind
	Line     int            // from 1
	Text     string         // for Scene, Say, Ask, Record; Pace: full, slow or step; Show: tradeoff or rounds
	Settings []config.Value // for Set: the settings, with those that they imply
	Rounds   float64        // for Pace: rounds per second; 0 if not given
	Steps    int            // for Step
	Lanes    [2]race.Lane   // for Race
	Key      bool           // for Wait: wait for a key
	For      time.Duration  // for Wait: how long; 0: as long as it takes to read the caption
}

func (a Action) String() string {
	switch {
	case a.Kind == Step:
		return fmt.Sprintf("step %d", a.Steps)
	case a.Kind == Wait && a.Key:
		return "wait key"
	case a.Kind == Wait:
		return "wait " + a.For.String()
	case a.Kind == Set:
		return fmt.Sprintf("set %v", a.Settings)
	case a.Kind == Race:
		return "race " + a.Lanes[0].Name + " vs " + a.Lanes[1].Name
	case a.Text == "":
		return a.Kind.String()
	}
	return a.Kind.String() + " " + a.Text
}

// Script is a checked script. Its first action is a Scene.
type Script struct {
	Name    string // of its file
	Actions []Action
}

// Scenes returns the titles of all scenes.
func (s *Script) Scenes() []string {
	var titles []string
	for _, a := range s.Actions {
		if a.Kind == Scene {
			titles = append(titles, a.Text)
		}
	}
	return titles
}

// scene returns the index of the action that begins scene n, counted from 0; the number of actions if there
// is no such scene.
func (s *Script) scene(n int) int {
	for i, a := range s.Actions {
		if a.Kind != Scene {
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return len(s.Actions)
}
