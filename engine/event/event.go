// Package event holds what happened while a reply was written, as plain structs.
//
// Everything that specula draws, prints, traces or benchmarks is read from these events and from nothing else,
// so a recorded stream replays the whole screen without a model. The package imports nothing of ours.
//
// The order within one reply is
//
//	ReplyStarted, Prefill…, { SettingChanged…, Drafted?, Round }…, ReplyEnded
//
// with Notice allowed anywhere and Failed directly before a ReplyEnded whose Reason is "error".
// Loading and Ready come once, before the first reply.
package event

import "slices"

// Event is one thing that happened. The set is closed: Marshal and Unmarshal know every kind.
type Event interface{ Kind() string }

// Loading reports progress in reading a model.
type Loading struct {
	What       string `json:"what"` // "target", "draft" or "heads"
	Name       string `json:"name"` // file or "embedded pair"
	DoneBytes  int64  `json:"doneBytes"`
	TotalBytes int64  `json:"totalBytes"`
}

// Model describes a loaded model.
type Model struct {
	Name          string `json:"name"`
	Path          string `json:"path"` // "embedded" for the pair inside the program
	Architecture  string `json:"architecture"`
	WeightType    string `json:"weightType"` // "Q8_0", "F16", …
	Parameters    int64  `json:"parameters"`
	WeightBytes   int64  `json:"weightBytes"`
	CacheBytes    int64  `json:"cacheBytes"`
	Layers        int    `json:"layers"`
	VocabSize     int    `json:"vocabSize"`
	ContextLength int    `json:"contextLength"` // tokens in use, not what the file would allow
}

// Ready says with what the program will speculate.
type Ready struct {
	Version      string `json:"version"`
	Target       Model  `json:"target"`
	Draft        *Model `json:"draft,omitempty"`
	DraftRefused string `json:"draftRefused,omitempty"` // why there is no draft model, in words
	// DraftTranslated says how a draft model of another vocabulary is used, in words; empty where the vocabularies agree.
	DraftTranslated string `json:"draftTranslated,omitempty"`
	Heads           string `json:"heads,omitempty"` // which trained heads are loaded, in words
	Device          string `json:"device"`          // "cpu, 2 threads"
	DeviceWhy       string `json:"deviceWhy"`
	Template        string `json:"template"` // which chat template is in use and why
	Auto            *Auto  `json:"auto,omitempty"`
	// Unspelled lists the bytes of UTF-8 for which the target's vocabulary has no token, in words; empty if it has all. They are
	// left out of what the model reads.
	Unspelled string `json:"unspelled,omitempty"`
	// Warnings tell what was assumed because a file does not say it.
	Warnings []Warning `json:"warnings,omitempty"`
	// Proposers says of each proposer why it is unavailable; empty for those that are.
	Proposers []Proposer `json:"proposers,omitempty"`
	LoadMS    float64    `json:"loadMS"`
}

// Warning is something that makes replies worse if it is wrong.
type Warning struct {
	About string `json:"about"` // "template" or "tokenizer"
	Text  string `json:"text"`  // what was assumed and why
	Do    string `json:"do"`    // what the user can do
}

// Warned reports whether there is a warning about something.
func (r *Ready) Warned(about string) bool {
	return slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.About == about })
}

// Refusal says why a proposer cannot be chosen, "" if it can; known is false when nothing is told about it.
func (r *Ready) Refusal(proposer string) (why string, known bool) {
	for _, p := range r.Proposers {
		if p.Name == proposer {
			return p.Refused, true
		}
	}
	return "", false
}

// Auto says which proposer the setting auto stands for.
type Auto struct {
	Proposer string `json:"proposer"`
	Why      string `json:"why"` // in words
}

// Proposer says whether one can be chosen.
type Proposer struct {
	Name    string `json:"name"`              // as in the setting speculation.proposer
	Refused string `json:"refused,omitempty"` // why it cannot be chosen, in words
}

// Settings are those in force; see engine/config for meaning and range.
type Settings struct {
	Temperature float64 `json:"temperature"`
	TopK        int     `json:"topK"`
	TopP        float64 `json:"topP"`
	MinP        float64 `json:"minP"`
	Seed        int64   `json:"seed"` // the seed really used, never -1
	Gamma       int     `json:"gamma"`
	GammaMax    int     `json:"gammaMax"`
	GammaRule   string  `json:"gammaRule"`
	Proposer    string  `json:"proposer"`
	// AutoProposer is the one that Proposer "auto" stands for; empty for others.
	AutoProposer string `json:"autoProposer,omitempty"`
	Acceptance   string `json:"acceptance,omitempty"`
	Speculate    bool   `json:"speculate"`
	MaxTokens    int    `json:"maxTokens"`
}

// ReplyStarted opens a reply.
type ReplyStarted struct {
	Reply         int      `json:"reply"`  // counts from 1 in a session
	Prompt        string   `json:"prompt"` // the last user message, raw
	PromptTokens  int      `json:"promptTokens"`
	ReusedTokens  int      `json:"reusedTokens"`  // found in the target's KV cache
	ContextTokens int      `json:"contextTokens"` // capacity
	DroppedTurns  int      `json:"droppedTurns,omitempty"`
	Settings      Settings `json:"settings"`
	// Config has every setting that is not at its default, by its full name and as it is typed, the seed really used among them.
	Config map[string]string `json:"config,omitempty"`
}

// Prefill reports progress in reading the prompt, or, when the draft model begins to draft behind rounds without it, what it missed.
type Prefill struct {
	Model string  `json:"model"` // "target" or "draft"
	Done  int     `json:"done"`
	Total int     `json:"total"`
	MS    float64 `json:"ms"` // since the prefill of this model began
}

// Verdict is the fate of one token.
type Verdict string

// The fates. Accepted, Resampled, Bonus and Plain tokens are part of the reply, as is Stop, which ends it and has no text.
const (
	Accepted  Verdict = "accepted"  // drafted, and kept by the target
	Rejected  Verdict = "rejected"  // drafted, and refused: the first refusal of the round
	Discarded Verdict = "discarded" // drafted behind a rejection or a stop token: never tested, counts for nothing
	Resampled Verdict = "resampled" // drawn from the residual in place of the rejected token
	Bonus     Verdict = "bonus"     // drawn from the target after every draft token was accepted
	Plain     Verdict = "plain"     // drawn from the target in a round without draft
)

// Committed reports whether a token with this verdict is part of the reply.
func (v Verdict) Committed() bool {
	return v == Accepted || v == Resampled || v == Bonus || v == Plain
}

// Candidate is one entry of a distribution.
type Candidate struct {
	ID   int32   `json:"id"`
	Text string  `json:"text"`
	P    float64 `json:"p"`
}

// Token is one drafted or drawn token.
type Token struct {
	ID   int32  `json:"id"`
	Raw  []byte `json:"raw"`  // the token's bytes; may end inside a UTF-8 sequence
	Text string `json:"text"` // committed: the text this token completed in the reply (may be empty); others: a readable form
	// P, Q and U are the target's and draft's probabilities of this token and the uniform it was tested with; nil where no such
	// number exists, e.g. U at temperature 0, Q of a bonus token. By the rule token it is accepted iff U·Q < P. By block, a draft can end
	// with it iff U < Bound, and the last such token stays with all before it; by typical-lossy, it is accepted iff P > Bound.
	P       *float64 `json:"p,omitempty"`
	Q       *float64 `json:"q,omitempty"`
	U       *float64 `json:"u,omitempty"`
	Bound   *float64 `json:"bound,omitempty"`
	Verdict Verdict  `json:"verdict,omitempty"` // empty while pending
	Stop    bool     `json:"stop,omitempty"`    // a stop token: ends the reply and shows no text
	// LogProb is the natural logarithm of the target's probability of this token, of its raw scores, before any filter, and
	// LogProbs those of the likeliest tokens, when log-probabilities are asked for.
	LogProb  *float64    `json:"logProb,omitempty"`
	LogProbs []Candidate `json:"logProbs,omitempty"` // P holds the logarithm
	// The best candidates of both models at this position, highest first, when inspection is on.
	Target []Candidate `json:"target,omitempty"`
	Draft  []Candidate `json:"draft,omitempty"`
}

// Drafted comes when a proposer has finished and before the target has judged.
type Drafted struct {
	Round    int     `json:"round"`
	Gamma    int     `json:"gamma"`           // asked for
	Probe    bool    `json:"probe,omitempty"` // as in Round
	Proposer string  `json:"proposer"`
	Tokens   []Token `json:"tokens"` // verdict empty
	DraftMS  float64 `json:"draftMS"`
}

// Round is one pass of the target and what came of it.
type Round struct {
	Index     int    `json:"index"` // from 0 within the reply
	Path      string `json:"path"`  // "greedy", "stochastic" or "fallback"
	PathWhy   string `json:"pathWhy"`
	Gamma     int    `json:"gamma"` // the draft length asked for; len(Draft) may be less
	GammaRule string `json:"gammaRule"`
	GammaWhy  string `json:"gammaWhy"`           // in words
	GammaOff  string `json:"gammaOff,omitempty"` // why speculation does not pay at present, in words; empty when it does
	Probe     bool   `json:"probe,omitempty"`    // this γ was chosen to measure what it costs, not for being the best
	Proposer  string `json:"proposer"`           // who drafted: of a combination the one of this round; "none" in a plain round
	// ProposerWhy says why it was this one, when one was chosen out of several.
	ProposerWhy string  `json:"proposerWhy,omitempty"`
	DraftWhy    string  `json:"draftWhy,omitempty"`
	DraftStop   string  `json:"draftStop,omitempty"` // why drafting ended before Gamma
	Draft       []Token `json:"draft"`
	Commit      *Token  `json:"commit,omitempty"` // resampled, bonus or plain; nil when an accepted stop token ended the round
	// Rule is the acceptance rule; Lossy marks one that changes the target's distribution.
	Rule  string `json:"rule,omitempty"`
	Lossy bool   `json:"lossy,omitempty"`
	// Rules says how many draft tokens each rule would have kept, judged by the same scores and uniforms, when inspection is on.
	Rules []RuleOutcome `json:"rules,omitempty"`
	// Shaped names what changed the target's scores before they were judged, such as penalties or a constraint; Constraint says
	// what the constraint expects next.
	Shaped     []string `json:"shaped,omitempty"`
	Constraint string   `json:"constraint,omitempty"`
	// GuidanceScale is that of classifier-free guidance, 0 when it is off; the pass then has two rows for every token.
	GuidanceScale float64 `json:"guidanceScale,omitempty"`
	Accepted      int     `json:"accepted"`
	Tested        int     `json:"tested"` // draft tokens the target judged: accepted, plus one if one was rejected
	Temperature   float64 `json:"temperature"`
	// DraftTemperature is the one that the draft was drawn at, which may be sharper than the target's; 0 if it was not drawn by chance.
	DraftTemperature float64 `json:"draftTemperature,omitempty"`
	// Milliseconds by phase, measured by the engine, never paced. ReadMS is what the proposer took to read Read tokens that it had missed.
	Read     int     `json:"read,omitempty"`
	ReadMS   float64 `json:"readMS,omitempty"`
	DraftMS  float64 `json:"draftMS"`
	VerifyMS float64 `json:"verifyMS"`
	SampleMS float64 `json:"sampleMS"`
	OtherMS  float64 `json:"otherMS"`
	// BytesMoved crossed the seam from the device to decide this round; InspectBytes crossed only to be looked at.
	BytesMoved   int64 `json:"bytesMoved"`
	InspectBytes int64 `json:"inspectBytes,omitempty"`
	Syncs        int   `json:"syncs"`
	TargetLen    int   `json:"targetLen"` // cache lengths after the round, in tokens
	DraftLen     int   `json:"draftLen"`
	// What the controller believed before the round.
	AcceptanceByPosition []float64 `json:"acceptanceByPosition,omitempty"`
	ExpectedTokens       float64   `json:"expectedTokens,omitempty"`
	// BestFixedGamma is the draft length that would have been fastest so far in this reply had it never changed, by hindsight, and
	// Regret the share of the time that it would have saved; nil until there is enough to tell.
	BestFixedGamma *int     `json:"bestFixedGamma,omitempty"`
	Regret         *float64 `json:"regret,omitempty"`
	// Speedup is the price of a token in plain rounds of the session over that in rounds for which a draft was asked, both as measured and without the draft model's
	// reading; zero before the first speculative round. SpeedupEstimated says that too few plain rounds were run in replies
	// yet, so that plain passes timed at the start stand in for them.
	Speedup          float64 `json:"speedup,omitempty"`
	SpeedupEstimated bool    `json:"speedupEstimated,omitempty"`
}

// Loses reports whether a speed-up is a loss that two digits show.
func Loses(speedup float64) bool { return speedup > 0 && speedup < 0.995 }

// RuleOutcome is what an acceptance rule would have made of a round.
type RuleOutcome struct {
	Rule     string `json:"rule"`
	Accepted int    `json:"accepted"`
	Lossy    bool   `json:"lossy,omitempty"`
}

// Committed returns the tokens this round added to the reply, in order.
func (r *Round) Committed() []Token {
	out := make([]Token, 0, len(r.Draft)+1)
	for _, t := range r.Draft {
		if t.Verdict.Committed() {
			out = append(out, t)
		}
	}
	if r.Commit != nil {
		out = append(out, *r.Commit)
	}
	return out
}

// MS is the round's whole time.
func (r *Round) MS() float64 { return r.ReadMS + r.DraftMS + r.VerifyMS + r.SampleMS + r.OtherMS }

// SettingChanged marks a change by the user; it holds from round Round on.
type SettingChanged struct {
	Round int    `json:"round"` // -1 between replies
	Name  string `json:"name"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// Totals sum up a reply.
type Totals struct {
	Tokens         int     `json:"tokens"` // committed, stop token included
	Rounds         int     `json:"rounds"`
	PlainRounds    int     `json:"plainRounds"`
	Drafted        int     `json:"drafted"`
	Tested         int     `json:"tested"`
	Accepted       int     `json:"accepted"`
	PositionTested []int   `json:"positionTested"` // by draft position
	PositionKept   []int   `json:"positionKept"`
	PrefillMS      float64 `json:"prefillMS"`        // reading the prompt into the target
	ReadMS         float64 `json:"readMS,omitempty"` // reading the prompt, and what it missed, into the proposer: a price of speculating
	DraftMS        float64 `json:"draftMS"`
	VerifyMS       float64 `json:"verifyMS"`
	SampleMS       float64 `json:"sampleMS"`
	OtherMS        float64 `json:"otherMS"`
	BytesMoved     int64   `json:"bytesMoved"`
	// Speedup and SpeedupEstimated are those of the last round; zero in a reply without a draft.
	Speedup          float64 `json:"speedup,omitempty"`
	SpeedupEstimated bool    `json:"speedupEstimated,omitempty"`
	// PlainMSPerToken is nil until a plain round was run in this reply.
	PlainMSPerToken *float64 `json:"plainMSPerToken,omitempty"`
	SpecMSPerToken  *float64 `json:"specMSPerToken,omitempty"`
}

// ReplyEnded closes a reply.
type ReplyEnded struct {
	Reply  int     `json:"reply"`
	Reason string  `json:"reason"` // "stop", "stop string", "length", "context", "cancelled", "error"
	Text   string  `json:"text"`   // the whole reply, raw
	IDs    []int32 `json:"ids"`
	Totals Totals  `json:"totals"`
	Tail   string  `json:"tail,omitempty"` // text that was held back by the decoder and belongs behind the last token's
	// Drafts says of a sampled reply what each of its rounds drafted, as the setting speculation.drafts takes it: with it and the
	// settings it began with, the reply can be written again.
	Drafts string `json:"drafts,omitempty"`
}

// Notice tells the user something that is not an error.
type Notice struct {
	Level string `json:"level"` // "info" or "warning"
	Text  string `json:"text"`
}

// Failed tells why a reply ended with an error.
type Failed struct {
	Error  string `json:"error"`
	Device bool   `json:"device,omitempty"` // the device is at fault, not the request
	Model  bool   `json:"model,omitempty"`  // the target's file is at fault: its weights are damaged
}

func (Loading) Kind() string        { return "loading" }
func (Ready) Kind() string          { return "ready" }
func (ReplyStarted) Kind() string   { return "reply-started" }
func (Prefill) Kind() string        { return "prefill" }
func (Drafted) Kind() string        { return "drafted" }
func (Round) Kind() string          { return "round" }
func (SettingChanged) Kind() string { return "setting-changed" }
func (ReplyEnded) Kind() string     { return "reply-ended" }
func (Notice) Kind() string         { return "notice" }
func (Failed) Kind() string         { return "failed" }
