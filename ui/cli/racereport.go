package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"specula/engine/event"
	"specula/ui/race"
	"specula/ui/sanitize"
	"specula/ui/theme"
)

func laneName(i int) string { return string(rune('a' + i)) }

// raceReport collects the results of a race. Its JSON is stable: fields may be added, not changed.
type raceReport struct {
	Lanes   [2]raceLane       `json:"lanes"`
	Outcome event.RaceOutcome `json:"outcome"`
	Gain    string            `json:"gain"` // in words; "" if a lane was not measured

	app    *invocation
	json   bool
	began  time.Time
	failed string
}

type raceLane struct {
	Lane   string     `json:"lane"`
	Name   string     `json:"name"`
	Count  race.Count `json:"count"`
	Reason string     `json:"reason"`
	Text   string     `json:"text"`
}

func (a *invocation) newRaceReport(lanes [2]race.Lane, o raceFlags) *raceReport {
	p := &raceReport{app: a, json: o.json, began: a.Now()}
	for i := range p.Lanes {
		p.Lanes[i].Lane, p.Lanes[i].Name = laneName(i), lanes[i].Name
	}
	return p
}

// begun reports whether any round has been written.
func (p *raceReport) begun() bool { return p.Lanes[0].Count.Rounds+p.Lanes[1].Count.Rounds > 0 }

// stopped reports whether a lane has not reached its end.
func (p *raceReport) stopped() bool {
	return slices.ContainsFunc(p.Lanes[:], func(l raceLane) bool { return l.Reason == "" || l.Reason == "cancelled" })
}

// add adds an event of a lane. With JSON it prints the event, with the lane as first field.
func (p *raceReport) add(lane int, e event.Event) error {
	l := &p.Lanes[lane]
	l.Count.Add(e)
	switch e := e.(type) {
	case event.ReplyEnded:
		l.Text, l.Reason = e.Text, e.Reason
	case event.Failed:
		if p.failed != "" {
			break
		}
		p.failed = fmt.Sprintf("lane %s: %s", l.Lane, e.Error)
	}
	if !p.json {
		return nil
	}
	line, err := event.Marshal(e, float64(p.app.Now().Sub(p.began))/float64(time.Millisecond))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.app.Terminal.Stdout, "{\"lane\":%q,%s\n", l.Lane, escapeJSON(strings.TrimPrefix(string(line), "{")))
	return err
}

// finish prints the outcome.
func (p *raceReport) finish() error {
	verdict := race.Judge(&p.Lanes[0].Count, &p.Lanes[1].Count, p.Outcome)
	if p.stopped() {
		verdict.Text, verdict.Same, verdict.Wrong, verdict.Why = "stopped before the end: the texts were not compared", false, false, ""
	}
	p.Gain = strings.TrimSpace(verdict.Factor("×") + " " + verdict.Comparison(p.Lanes[1].Name))
	if p.json {
		line, err := json.Marshal(struct {
			Kind string      `json:"kind"`
			Data *raceReport `json:"data"`
		}{"race-ended", p})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.app.Terminal.Stdout, escapeJSON(string(line)))
		return err
	}
	var b strings.Builder
	for _, l := range p.Lanes {
		fmt.Fprintf(&b, "%s  %s\n   %s tokens/s · %s\n\n%s\n\n", l.Lane, sanitize.Line(l.Name), l.Count.Speed("–"), strings.Join(l.Count.Words(), " · "), p.app.shown(l.Text))
	}
	th, _ := theme.Named("mono", true)
	fmt.Fprintln(&b, sanitize.Line(verdict.Words(p.Lanes[1].Name, th.Glyph)))
	if verdict.Why != "" {
		fmt.Fprintln(&b, sanitize.Line(verdict.Why))
	}
	_, err := io.WriteString(p.app.Terminal.Stdout, b.String())
	return err
}
