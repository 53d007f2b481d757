package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"specula/engine/gamma"
	"specula/engine/round"
	"specula/engine/sample"
	"specula/engine/spec"
)

const (
	// calibrationTime limits the measuring before the first reply, if Options.CalibrationTime is not set: no
	// round begins after it. But one plain round of each path is always measured, because the speed-up is
	// estimated against it until replies have plain rounds. With a large model there may be no time for other
	// rounds. Then gamma's controller learns their costs from replies.
	calibrationTime = 250 * time.Millisecond
	// serverCalibrationTime takes the place of calibrationTime with a server: enough for all rounds if a
	// request takes 100 ms.
	serverCalibrationTime = 1500 * time.Millisecond
	// calibrationRuns is how often each number of rows is measured on each path, if there is time for it.
	// Disturbances only add time, so the least of three times is close to the undisturbed time.
	calibrationRuns = 3
	// calibrationContext is how many tokens a proposer that reads the context itself (Traits.ReadsAlone) must
	// read in each rehearsed round with a draft, so that the cost of reading is measured, too.
	calibrationContext = 16
)

// calibrationText is what measured passes read. It is real text because of mixtures of experts: equal
// rows choose equal experts, so a pass over one repeated word would read fewer weights than a pass in
// a reply.
const calibrationText = "Before noon 27 ships left the harbour; their crews, tired but cheerful, sang about rivers of glass. " +
	"Why does bread rise? Yeast eats sugar and breathes out gas. In 1893 a clockmaker from Prague sold his tools, bought a map " +
	"and walked south. def area(r): return 3.14 * r ** 2  # a circle. Nobody had painted the door green on purpose."

// textTokens returns the next n tokens of calibrationText; after the end of the text it starts again.
func (s *Session) textTokens(n int) []int32 {
	if s.practice.text == nil {
		if s.practice.text = s.engine.tokens.Encode(calibrationText); len(s.practice.text) == 0 {
			s.practice.text = make([]int32, 1)
		}
	}
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = s.practice.text[s.practice.at%len(s.practice.text)]
		s.practice.at++
	}
	return ids
}

// calibrate measures what rounds of the paths greedy and stochastic cost with several numbers of rows, and
// stores the costs in s.costs. It leaves the caches empty.
func (s *Session) calibrate(ctx context.Context) (err error) {
	// The most important numbers of rows come first. The path greedy is at temperature 0, stochastic at 1.
	limit, lengths, temperatures := calibrationTime, []int{1, 5, 2, 9, 3, 4, 7, 6, 8}, []float64{0, 1}
	if s.engine.target == nil {
		// A server gets the same requests on both paths. The numbers of rows are few, so that each can be measured
		// more than once even where a round takes long.
		limit, lengths, temperatures = serverCalibrationTime, []int{1, 2, 5}, []float64{0}
	}
	if given := s.engine.options.CalibrationTime; given > 0 {
		limit = given
	}
	deadline := s.engine.options.Now().Add(limit)
	c := s.resolve(s.engine.options.Config).Speculation
	traits := drafterNamed(c.Proposer).Traits
	proposer, refused := s.proposer(c.Proposer, c)
	if refused == "" {
		s.rehearser = c.Proposer
		if traits.Hidden() {
			err = s.rehearseHeads(ctx, proposer.(spec.HiddenReader))
		} else {
			_, err = proposer.Begin(s.textTokens(1))
		}
		if err != nil {
			return fmt.Errorf("measuring how long drafting takes: %w", err)
		}
		defer func() { err = errors.Join(err, proposer.Reset(), s.target.Truncate(0)) }()
	}
	// Measure all numbers of rows once before repeating any. The first rounds run with cold processor
	// caches. If they were all plain, drafts would look too cheap.
	for run := range calibrationRuns {
		for _, rows := range lengths {
			for _, temperature := range temperatures {
				if (run > 0 || rows > 1) && s.engine.options.Now().After(deadline) {
					return nil
				}
				params, uniforms := sample.Params{Temperature: temperature, TopP: 1}, sample.NewPhilox(0, 0)
				in := round.Input{Terms: spec.Terms{Params: params, Uniforms: uniforms}, Ask: spec.Ask{
					Gamma: min(rows, s.target.Cap()-s.target.Len()) - 1, Params: params, Uniforms: uniforms, Trust: 1, OnDevice: s.engine.draftsStay(),
				}}
				if err := s.rehearse(ctx, proposer, traits, &in); err != nil {
					return fmt.Errorf("measuring a round of %d rows: %w", rows, err)
				}
			}
		}
	}
	return nil
}

// rehearse runs one round over calibrationText and notes its cost. It counts no token as tested, because
// the verdicts on this text say nothing about replies.
func (s *Session) rehearse(ctx context.Context, p spec.Proposer, traits spec.Traits, in *round.Input) error {
	var did round.Result
	before := s.target.Len() // 1 for heads (rehearseHeads), else 0
	in.Last = s.textTokens(1)[0]
	driver := &s.driver
	if p != nil && in.Ask.Gamma > 0 {
		if traits.ReadsAlone() {
			// In a reply the proposer often has tokens to read before it drafts.
			err := p.Reset()
			if err == nil {
				_, err = p.Begin(s.textTokens(calibrationContext + 1))
			}
			if err != nil {
				return err
			}
		}
		driver.Watch.Skip()
		// After spec.ErrNoDraft, Draft returns nil: the time of a draft that fails is a cost, too.
		if err := errors.Join(driver.Draft(ctx, p, in, nil, &did), p.Committed(nil)); err != nil {
			return err
		}
	}
	if did.Pass.Scores == nil { // no pass has run yet: give it all its rows, even if the draft is short or empty
		for _, id := range s.textTokens(in.Ask.Gamma - len(did.Draft.Tokens)) {
			did.Draft.Tokens, did.Draft.Q = append(did.Draft.Tokens, id), append(did.Draft.Q, sample.OneHot(id))
		}
	}
	driver.Watch.Skip()
	if err := driver.Verify(ctx, in, &did); err != nil {
		return err
	}
	if in.Ask.Gamma == 0 && s.engine.target == nil {
		if err := s.rehearseStream(ctx, *in, &did); err != nil {
			return err
		}
	}
	greedy := in.Terms.Params.Temperature == 0
	s.costs[greedy] = append(s.costs[greedy], gamma.Observation{Drafted: in.Ask.Gamma, Read: did.Read,
		ReadMS: did.Times.Read, DraftMS: did.Times.Draft, VerifyMS: did.Pass.Price(did.Verify + did.Sample)})
	s.target.Rest()
	return s.target.Truncate(before)
}

// rehearsedStream is the largest number of tokens that rehearseStream times.
const rehearsedStream = 3

// rehearseStream times up to rehearsedStream further tokens without a draft. The time of a stream's first token
// includes that of the request. Speculation has to beat the time between the later tokens (round.Pass.PriceMS).
func (s *Session) rehearseStream(ctx context.Context, in round.Input, did *round.Result) error {
	for range rehearsedStream {
		if s.isStop(did.Outcome.Commit.ID) {
			break
		}
		in.Last = did.Outcome.Commit.ID
		*did = round.Result{}
		s.driver.Watch.Skip()
		if err := s.driver.Verify(ctx, &in, did); err != nil {
			return err
		}
	}
	return nil
}
