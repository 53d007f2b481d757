package demo

import (
	"time"
	"unicode/utf8"
)

// Player plays a script. The screen calls Next after every event, and does the action that Next returns.
type Player struct {
	script *Script
	loop   bool

	at       int  // index of the next action
	scene    int  // the scene being played, from 0; -1 before the first
	cut      bool // the next action does not wait for the end of the current reply
	leaving  bool // Stop was returned, and the current reply has not ended yet
	answer   bool // the reply or the race must end before the next action
	stepping bool // the pace is step, so a reply waits for steps
	steps    int  // how many steps of a Step action are still to come
	caption  string

	key    bool      // the player waits for a key
	due    time.Time // the end of a wait; zero: no wait
	paused bool
	left   time.Duration // the rest of the wait, while paused
}

// The times of a player.
const (
	stepTime    = 900 * time.Millisecond // between two steps
	readTime    = 2 * time.Second        // to notice a new caption
	characterMS = 55                     // to read a character of the caption, in milliseconds
	sceneTime   = time.Second            // between the end of a script and its next start in a loop
	loopKeyTime = 20 * time.Second       // how long a loop waits for a key
)

// NewPlayer returns a player before its first scene. With loop, the first scene follows the last, and a
// wait for a key ends after loopKeyTime.
func NewPlayer(s *Script, loop bool) *Player { return &Player{script: s, loop: loop, scene: -1} }

// Caption returns the current caption.
func (p *Player) Caption() string { return p.caption }

// Scene returns the number of the current scene, from 1, the number of scenes, and the title of the
// current one. Before the first scene it returns the first one.
func (p *Player) Scene() (n, of int, title string) {
	titles := p.script.Scenes()
	if p.scene < 0 {
		return 1, len(titles), titles[0]
	}
	return p.scene + 1, len(titles), titles[p.scene]
}

// Over reports whether the last action was done and nothing is left to wait for.
func (p *Player) Over() bool {
	return p.at >= len(p.script.Actions) && p.due.IsZero() && !p.key && p.steps == 0 && !p.answer
}

// Waits reports whether the player waits for a key, and whether it is paused.
func (p *Player) Waits() (key, paused bool) { return p.key, p.paused }

// Due returns the time at which the next action is due, and whether the player waits for a time at all.
func (p *Player) Due() (time.Time, bool) { return p.due, !p.due.IsZero() && !p.paused }

// Next returns the next action if it is due; ok is false while the player waits, and after the last action.
// busy says that a reply or a race is running.
func (p *Player) Next(now time.Time, busy bool) (a Action, ok bool) {
	switch {
	case p.paused, p.key:
		return Action{}, false
	case !p.due.IsZero() && now.Before(p.due):
		return Action{}, false
	}
	p.due = time.Time{}
	if p.answer && busy && !p.leaving {
		return Action{}, false
	}
	p.answer = false
	if p.steps > 0 && busy {
		p.steps--
		p.due = now.Add(stepTime)
		return Action{Kind: Step, Steps: 1}, true
	}
	p.steps = 0
	if p.at == len(p.script.Actions) && p.loop {
		p.at, p.due = 0, now.Add(sceneTime)
		return Action{}, false
	}
	if p.at == len(p.script.Actions) {
		return Action{}, false
	}
	a = p.script.Actions[p.at]
	if busy && (a.Kind == Scene || a.Kind == Ask || a.Kind == Race) {
		if p.leaving || !p.cut && !p.stepping {
			return Action{}, false // wait until the reply is over
		}
		p.leaving = true
		return Action{Kind: Stop}, true
	}
	p.leaving, p.cut = false, false
	p.at++
	p.take(a, now)
	return a, true
}

// take records when and under which conditions the action after a may follow.
func (p *Player) take(a Action, now time.Time) {
	switch a.Kind {
	case Scene:
		p.scene, p.caption, p.stepping = p.numberOf(p.at-1), "", false
	case Say:
		p.caption = a.Text
	case Pace:
		p.stepping = a.Text == "step"
	case Ask:
		p.answer = !p.stepping
	case Race:
		p.answer = true
	case Step:
		p.steps = a.Steps - 1 // the screen does the first step at once
		p.due = now.Add(stepTime)
	case Wait:
		switch {
		case a.Key && p.loop:
			p.due = now.Add(loopKeyTime)
		case a.Key:
			p.key = true
		case a.For > 0:
			p.due = now.Add(a.For)
		default:
			p.due = now.Add(readTime + time.Duration(utf8.RuneCountInString(p.caption))*characterMS*time.Millisecond)
		}
	}
}

// numberOf returns the number, from 0, of the scene that begins with the action of this index.
func (p *Player) numberOf(action int) int {
	n := -1
	for _, a := range p.script.Actions[:action+1] {
		if a.Kind == Scene {
			n++
		}
	}
	return n
}

// Press ends a wait, or a pause.
func (p *Player) Press(now time.Time) {
	if p.paused {
		p.Pause(now)
		return
	}
	p.key, p.due = false, time.Time{}
}

// Pause stops the player, or lets it go on. A wait keeps the time that was left.
func (p *Player) Pause(now time.Time) {
	p.paused = !p.paused
	switch {
	case p.due.IsZero():
	case p.paused:
		p.left = p.due.Sub(now)
	default:
		p.due = now.Add(p.left)
	}
}

// Go moves by scenes: 1 to the next scene, −1 to the previous one, 0 to the beginning of this one. After the
// last scene comes the end, or in a loop the first.
func (p *Player) Go(by int) {
	n := len(p.script.Scenes())
	to := max(p.scene, 0) + by
	if p.loop {
		to = (to + n) % n
	}
	p.at = p.script.scene(max(to, 0))
	p.key, p.due, p.steps, p.answer, p.paused, p.cut = false, time.Time{}, 0, false, false, true
}
