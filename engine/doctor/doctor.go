// Package doctor examines a loaded pair on its device: whether it computes correctly, whether it
// fits into memory, and whether speculation pays.
//
// [Run] examines a [Subject] within the time of [Options] and returns a [Report] of [Line]s. Each
// step has a file: equal.go compares verification with decoding, cost.go measures times and
// memory, accept.go lets every proposer write replies.
//
// The package checks the invariant on which all promises rest. Verifying γ+1 rows gives the scores of γ+1
// decoding steps, and their keys and values at every layer, bit for bit. It checks this for every number
// of rows up to the largest γ plus one, with random tokens, and with tokens after which the two best scores
// nearly tie. There one wrong bit could change the text.
package doctor

import (
	"context"
	"fmt"
	"time"

	"specula/engine/event"
	"specula/engine/model"
)

// Status is the result of a line of the report.
type Status string

// The statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn" // it works, but not as well as it could
	Fail Status = "fail" // a promise is broken
)

// Line is one finding.
type Line struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	Do     string `json:"do,omitempty"` // what to do about it
}

// Reply writes one reply of a session. settings alternates names and values. The reply must not depend
// on earlier ones.
type Reply func(ctx context.Context, prompt string, settings ...string) (event.ReplyEnded, error)

// Subject is what is examined.
type Subject struct {
	Ready       event.Ready
	Target      *model.Model
	Draft       *model.Model // nil: none
	Heads       bool         // trained heads for the target are loaded, which draft without a draft model
	Available   int64        // bytes that the device can still allocate; 0: unknown
	Prompt      []int32      // tokens before those that are examined
	GammaMax    int
	Temperature float64
	Reply       Reply
}

// Options limit an examination.
type Options struct {
	Seconds float64  // approximate duration
	Prompts []string // what the proposers answer
	Now     func() time.Time
}

type examination struct {
	Subject
	Options
	report *Report
	began  time.Time
	read   int // tokens of the prompt that timed passes have read
}

// Run examines everything. progress may be nil; it gets the name of each step before it starts,
// and "" at the end.
func Run(ctx context.Context, s Subject, o Options, progress func(what string)) (*Report, error) {
	x := &examination{Subject: s, Options: o, began: o.Now(), report: &Report{
		Target: s.Ready.Target.Name, Device: s.Ready.Device, GammaMax: s.GammaMax, Temperature: s.Temperature,
	}}
	if s.Ready.Draft != nil {
		x.report.Draft = s.Ready.Draft.Name
	}
	for _, step := range []struct {
		what string
		run  func(context.Context) error
	}{
		{"the surroundings", x.surroundings},
		{"verification against decoding, target", func(ctx context.Context) error { return x.equal(ctx, "target", x.Target) }},
		{"verification against decoding, draft", func(ctx context.Context) error { return x.equal(ctx, "draft", x.Draft) }},
		{"what passes cost", x.costs},
		{"what is accepted", x.acceptance},
		{"memory", x.memory},
	} {
		if progress != nil {
			progress("examining " + step.what)
		}
		if err := step.run(ctx); err != nil {
			return nil, fmt.Errorf("examining %s: %w", step.what, err)
		}
	}
	x.recommend()
	if progress != nil {
		progress("")
	}
	x.report.Seconds = o.Now().Sub(x.began).Seconds()
	return x.report, nil
}

func (x *examination) add(name string, status Status, do, format string, args ...any) {
	if status == OK {
		do = ""
	}
	x.report.Lines = append(x.report.Lines, Line{Name: name, Status: status, Found: fmt.Sprintf(format, args...), Do: do})
}

// left is the fraction of Options.Seconds that remains; below 0 after they are over.
func (x *examination) left() float64 { return 1 - x.Now().Sub(x.began).Seconds()/x.Seconds }

// surroundings reports what loading found out.
func (x *examination) surroundings(context.Context) error {
	r := x.Ready
	x.add("device", OK, "", "%s (%s)", r.Device, r.DeviceWhy)
	if r.DeviceDetail != "" {
		x.add("", OK, "", "%s", r.DeviceDetail)
	}
	for _, w := range r.Warnings {
		x.add(w.About, Warn, w.Do, "%s", w.Text)
	}
	if !r.Warned("template") {
		x.add("template", OK, "", "%s", r.Template)
	}
	if r.Unspelled != "" {
		x.add("bytes", OK, "", "no token for %s: the model does not read these, as in other programs; a chat says when it happens", r.Unspelled)
	}
	switch {
	case r.DraftTranslated != "":
		x.add("vocabulary", Warn, "a draft of the same family accepts more", "the draft's is another: %s", r.DraftTranslated)
	case r.Draft != nil:
		x.add("vocabulary", OK, "", "the same for draft and target: %d tokens", r.Target.VocabSize)
	case x.Heads:
		x.add("vocabulary", OK, "", "that of the target alone: in place of a draft model, trained heads draft (%s)", r.Heads)
	default:
		x.add("vocabulary", Warn, "give a draft of the same family by --draft", "no draft model: %s", r.DraftRefused)
	}
	if r.Auto != nil {
		x.add("proposer auto", OK, "", "%s: %s", r.Auto.Proposer, r.Auto.Why)
	}
	for _, p := range r.Proposers {
		if p.Refused != "" && p.Name != "draft" {
			x.add("proposer "+p.Name, OK, "", "not available: %s", p.Refused)
		}
	}
	return nil
}
