package engine

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/event"
	"specula/engine/remote"
	"specula/engine/sample"
	"specula/engine/spec"
)

// watching is the open stream of a server that speculates by itself.
type watching struct {
	stream *remote.Watch // nil: none is open
	params sample.Params // the filters that the server was asked for
	most   int           // length of the context at which this stream ends
	at     []int         // for each remote.Seen of the stream: the index of its first round in the reply
	untold []event.Round // rounds whose drafts the server tells only at the end of the reply
	served event.Served
}

// watches reports whether the server speculates by itself and the reply shows its rounds.
func (r *reply) watches() bool {
	return r.session.engine.options.Remote != nil && r.config.Remote.Watch
}

// pathReported is the path of a round that a server reports.
const pathReported = "reported"

// watch reads the server's next round and emits it. It returns what reply.round returns.
func (r *reply) watch(ctx context.Context) (reason string, err error) {
	r.leave() // the proposer will not be told these tokens
	timer := &r.session.driver.Watch
	timer.Skip()
	if err := r.openWatch(ctx); err != nil {
		return "", err
	}
	w := &r.server
	seen, err := w.stream.Next()
	if err != nil {
		return "", err
	}
	w.at = append(w.at, r.rounds)
	var ms float64
	timer.Lap(&ms)
	for i, ev := range r.narrateSeen(&seen) {
		if i == 0 {
			ev.VerifyMS, ev.BytesMoved = ms, w.stream.Moved()
			if len(w.at) > 1 && seen.MS > 0 { // the first round waits for the prompt
				ev.VerifyMS = seen.MS
			}
		}
		outcome := spec.Outcome{Accepted: ev.Accepted}
		if reason = r.commit(&outcome, &ev); reason != "" && ev.Server.Drafted == event.Untold {
			ev.Tested = 0
		}
		if err := r.tellSeen(ev); err != nil || reason != "" {
			return reason, errors.Join(err, r.readEnd(reason, &seen))
		}
	}
	if !seen.Ended && r.left() > 0 {
		return "", nil
	}
	if r.left() > 0 {
		reason = endStop
	}
	return reason, r.readEnd(endStop, &seen)
}

// openWatch opens a stream from the server, unless one is open under the same settings.
func (r *reply) openWatch(ctx context.Context) error {
	w, p := &r.server, params(r.config)
	most := len(r.context) + r.left()
	if w.stream != nil && w.params == p && w.most == most {
		return nil
	}
	r.closeWatch()
	target, ok := r.session.target.(*remote.Target)
	if terms := r.terms(); !ok || len(terms.Shapers) > 0 || terms.Mixed || terms.Logprobs > 0 {
		return errors.New("remote.watch shows what the server writes by itself: it does not know penalties, biases, bans, forms, guidance or log-probabilities of this program; turn these off, or remote.watch")
	}
	target.Hold(r.context[:len(r.context)-1])
	stream, err := target.Watch(ctx, r.last(), p, r.left())
	if err != nil {
		return fmt.Errorf("letting the server write: %w", err)
	}
	r.server = watching{stream: stream, params: p, most: most, served: w.served, untold: w.untold}
	return nil
}

// narrateSeen makes the event of a server's round; none if the server sent only the end of the reply. If
// several rounds arrived together, it makes an event of a plain round for each of their tokens.
func (r *reply) narrateSeen(seen *remote.Seen) []event.Round {
	e := r.session.engine
	one := event.Round{
		Index: r.rounds, Path: pathReported, PathWhy: "the server's own round: it tells how many tokens it drafted and kept",
		GammaRule: "server", GammaWhy: "the server chooses", Proposer: "server", Gamma: max(0, seen.Drafted), Temperature: r.config.Sampling.Temperature,
		Server: &event.ServerRound{Round: r.rounds, Drafted: seen.Drafted, Kept: seen.Kept},
	}
	if seen.Drafted == 0 || seen.Drafted == event.Untold && seen.Accepted == 0 {
		one.Proposer = "none"
	}
	if seen.Merged > 1 {
		return r.narrateMerged(one, seen)
	}
	for i, id := range seen.Tokens {
		t := e.token(id)
		if i < seen.Accepted {
			t.Verdict = event.Accepted
			one.Draft = append(one.Draft, t)
			continue
		}
		t.Verdict = event.Plain
		switch {
		case seen.Drafted > seen.Accepted:
			t.Verdict = event.Resampled
		case seen.Drafted > 0:
			t.Verdict = event.Bonus
		}
		one.Commit = &t
	}
	one.Accepted = seen.Accepted
	if seen.Drafted != event.Untold {
		one.Tested = seen.Accepted
		if blanks := one.Server.Blanks(seen.Accepted); len(blanks) > 0 {
			if blanks[0].Verdict == event.Rejected {
				one.Tested++
			}
			one.Draft = append(one.Draft, blanks...)
		}
	}
	if len(one.Draft) == 0 && one.Commit == nil {
		return nil // the server sent only the end of the reply
	}
	return []event.Round{one}
}

// narrateMerged makes the event of a plain round for each token: which of them were drafted is not known.
func (r *reply) narrateMerged(one event.Round, seen *remote.Seen) (list []event.Round) {
	one.Proposer, one.Gamma, one.Server.Merged = "none", 0, seen.Merged
	one.PathWhy = fmt.Sprintf("at least %d rounds of the server came in one piece: which of their tokens were drafted is not known", seen.Merged)
	for i, id := range seen.Tokens {
		t, ev := r.session.engine.token(id), one
		t.Verdict, ev.Commit, ev.Index = event.Plain, &t, one.Index+i
		if i > 0 {
			ev.Server = &event.ServerRound{Round: ev.Index}
		}
		list = append(list, ev)
	}
	return list
}

// tellSeen emits a round of the server, and adds it to the totals.
func (r *reply) tellSeen(ev event.Round) error {
	target := r.session.target.(*remote.Target)
	target.Hold(r.context[:len(r.context)-1])
	ev.TargetLen = target.Len()
	if ev.Server.Drafted == event.Untold {
		r.server.untold = append(r.server.untold, ev)
	}
	r.totals.add(&ev, false)
	r.rounds++
	return r.out.emit(ev)
}

// mostEnding is how many more events of the stream are read at most after the last token, to find the end of
// the stream.
const mostEnding = 4

// readEnd adds what the server has told of its drafts to the totals, and closes the stream. If reason is endStop,
// readEnd first reads on to the list of drafts that the server sends at the end of its text.
func (r *reply) readEnd(reason string, seen *remote.Seen) error {
	w := &r.server
	for i := 0; i < mostEnding && !seen.Ended && reason == endStop; i++ {
		next, err := w.stream.Next()
		if err != nil || len(next.Tokens) > 0 {
			break // the reply is complete without this list
		}
		*seen = next
	}
	steps, told, exact := w.stream.Steps()
	for _, s := range steps {
		if s.Round < len(w.at) {
			w.served = append(w.served, event.ServerRound{
				Round: w.at[s.Round], Drafted: s.Drafted, Kept: s.Kept, Merged: len(s.Parts), Parts: s.Parts,
			})
		}
	}
	r.completeTotals()
	r.closeWatch()
	if told && !exact {
		return r.out.emit(event.Notice{Level: "warning", Text: "the list of rounds that the server sent at the end does not fit the tokens that it sent: what is drawn as a round may be more than one; its own totals are in its /metrics"})
	}
	return nil
}

// completeTotals adds the drafts that the server told at the end to the totals. A round that the server did
// not list had no draft.
func (r *reply) completeTotals() {
	w := &r.server
	for i := range w.untold {
		ev := &w.untold[i]
		w.served.Complete(ev)
		if ev.Server.Drafted != event.Untold {
			r.totals.Drafted += len(ev.Draft)
			r.totals.Tested += ev.Tested
			r.totals.Accepted += ev.Accepted
		}
	}
	w.untold = nil
}

// closeWatch ends the stream, so that the server stops writing.
func (r *reply) closeWatch() {
	if r.server.stream != nil {
		r.server.stream.Close()
		r.server.stream, r.server.at = nil, nil
	}
}
