// Package doctor examines a loaded pair on its device: whether it computes what it must, whether it fits, and whether
// speculation pays.
//
// The first question is the one that all promises rest on. A verification of γ+1 rows must give, bit for bit, what γ+1 decoding
// steps would have given: scores, and keys and values at every layer. It is asked for every number of rows, of random tokens, and
// of tokens behind which the two best are so nearly tied that one wrong bit would change the text.
package doctor

import (
	"context"
	"fmt"
	"time"

	"specula/engine/event"
	"specula/engine/model"
)

// Status is what a line of the report says.
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

// Reply is one reply of a session with some settings, name and value in turn. It must not depend on replies before.
type Reply func(ctx context.Context, prompt string, settings ...string) (event.ReplyEnded, error)

// Subject is what is examined.
type Subject struct {
	Ready       event.Ready
	Target      *model.Model
	Draft       *model.Model // nil: none
	Available   int64        // bytes the device can still give; 0: unknown
	Prompt      []int32      // tokens to begin with
	GammaMax    int
	Temperature float64
	Reply       Reply
}

// Options bound an examination.
type Options struct {
	Seconds float64 // about
	Prompts []string
	Now     func() time.Time
}

type examination struct {
	Subject
	Options
	report *Report
	began  time.Time
}

// Run examines everything. progress, which may be nil, is told what comes next, and "" at the end.
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

// left is the share of the time that has not passed yet.
func (x *examination) left() float64 { return 1 - x.Now().Sub(x.began).Seconds()/x.Seconds }

// surroundings repeats what loading found out.
func (x *examination) surroundings(context.Context) error {
	r := x.Ready
	x.add("device", OK, "", "%s (%s)", r.Device, r.DeviceWhy)
	for _, w := range r.Warnings {
		x.add(w.About, Warn, w.Do, "%s", w.Text)
	}
	if !r.Warned("template") {
		x.add("template", OK, "", "%s", r.Template)
	}
	if r.Unspelled != "" {
		x.add("bytes", OK, "", "no token for %s: the model does not read these, as in other programs; a chat says when it happens", r.Unspelled)
	}
	if r.DraftTranslated != "" {
		x.add("vocabulary", Warn, "a draft of the same family accepts more", "the draft's is another: %s", r.DraftTranslated)
	} else if r.Draft != nil {
		x.add("vocabulary", OK, "", "the same for draft and target: %d tokens", r.Target.VocabSize)
	} else {
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
