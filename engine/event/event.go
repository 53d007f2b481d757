// Package event describes what happened while a reply was written, as plain structs. It imports no
// other package of this program.
//
// Invariant: what specula shows, prints, traces or measures of a reply comes from these events and from
// nothing else. So a recorded stream replays the screen without a model.
//
// [Round] is the main event; a [Token] in it has its [Verdict]. Within one reply the order is
//
//	SettingChanged…, ReplyStarted, Prefill…, { SettingChanged…, Prefill…, Drafted?, Round }…, ReplyEnded
//
// A Notice may come anywhere. Failed comes directly before a ReplyEnded whose Reason is "error". Loading
// events, and one Ready, come before the first reply.
package event

// Event is one thing that happened. The set is closed: Marshal and Unmarshal know every kind.
type Event interface{ Kind() string }

// Settings are the settings in force; engine/config has their meanings and ranges.
type Settings struct {
	Temperature float64 `json:"temperature"`
	TopK        int     `json:"topK"`
	TopP        float64 `json:"topP"`
	MinP        float64 `json:"minP"`
	Seed        int64   `json:"seed"` // the seed in use, never -1
	Gamma       int     `json:"gamma"`
	GammaMax    int     `json:"gammaMax"`
	GammaRule   string  `json:"gammaRule"`
	Proposer    string  `json:"proposer"`
	// AutoProposer is the proposer that "auto" stands for; empty if Proposer is not "auto".
	AutoProposer string `json:"autoProposer,omitempty"`
	Acceptance   string `json:"acceptance,omitempty"`
	Speculate    bool   `json:"speculate"`
	MaxTokens    int    `json:"maxTokens"`
	Watch        bool   `json:"watch,omitempty"` // a server speculates, and the rounds are its own
}

// ReplyStarted opens a reply.
type ReplyStarted struct {
	Reply         int      `json:"reply"`  // counts from 1 in a session
	Prompt        string   `json:"prompt"` // the last user message, raw
	PromptTokens  int      `json:"promptTokens"`
	ReusedTokens  int      `json:"reusedTokens"`  // found in the target's KV cache
	ContextTokens int      `json:"contextTokens"` // how many tokens the context can hold
	DroppedTurns  int      `json:"droppedTurns,omitempty"`
	Settings      Settings `json:"settings"`
	// Config has each setting that differs from its default, by its full name and as it is typed. It
	// always has the seed in use.
	Config map[string]string `json:"config,omitempty"`
}

// Prefill reports progress in reading the prompt. It also reports a draft model that reads missed tokens
// before it can draft, and guidance that reads the negative prompt.
type Prefill struct {
	Model string  `json:"model"` // "target", "draft", or "guidance"
	Done  int     `json:"done"`
	Total int     `json:"total"`
	MS    float64 `json:"ms"` // milliseconds since this model began to read
}

// Verdict says what became of a token.
type Verdict string

// The verdicts. Accepted, Resampled, Bonus and Plain tokens are part of the reply. Such a token
// may be a stop token, which ends the reply and has no text.
const (
	Accepted  Verdict = "accepted"  // drafted, and kept by the target
	Rejected  Verdict = "rejected"  // drafted, and refused: the first rejection of the round
	Discarded Verdict = "discarded" // drafted after a rejection or the reply's end: not counted as tested
	Resampled Verdict = "resampled" // drawn from the residual in place of the rejected token
	Bonus     Verdict = "bonus"     // drawn from the target after every draft token was accepted
	Plain     Verdict = "plain"     // drawn from the target in a round without a draft
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
	ID  int32  `json:"id"`
	Raw []byte `json:"raw"` // the token's bytes; may end inside a UTF-8 sequence
	// For a committed token, the text that it completed in the reply, which may be empty. For
	// others, a readable text.
	Text string `json:"text"`
	// P and Q are the target's and the draft's probability of this token. U is the uniform random number
	// that it was tested with. A pointer is nil if there is no such number, e.g. U at temperature 0, or
	// Q of a bonus token. The rule token accepts it iff U·Q < P. Under the rule block, the accepted part
	// of a draft may end with this token iff U < Bound; the last such token counts. The rule typical-lossy
	// accepts it iff P > Bound.
	P       *float64 `json:"p,omitempty"`
	Q       *float64 `json:"q,omitempty"`
	U       *float64 `json:"u,omitempty"`
	Bound   *float64 `json:"bound,omitempty"`
	Verdict Verdict  `json:"verdict,omitempty"` // empty while pending
	Stop    bool     `json:"stop,omitempty"`    // ends the reply; Text is empty
	Name    string   `json:"name,omitempty"`    // a readable text of a stop token, such as <|im_end|>; "" for others
	Untold  bool     `json:"untold,omitempty"`  // a server drafted it without telling which token it was
	Thought bool     `json:"thought,omitempty"` // part of a thought, which precedes the answer; the marks around it count, too
	// LogProb is the natural logarithm of the target's probability of this token, from the raw scores
	// before any filter. LogProbs has the likeliest tokens. Both are set only if log-probabilities are
	// asked for.
	LogProb  *float64    `json:"logProb,omitempty"`
	LogProbs []Candidate `json:"logProbs,omitempty"` // their P is the logarithm
	// The best candidates of both models at this position, highest first; set only with inspection
	// on.
	Target []Candidate `json:"target,omitempty"`
	Draft  []Candidate `json:"draft,omitempty"`
}

// Drafted tells the draft of a round, before the verdicts come with the event Round. A round without a draft
// has no Drafted. On a device the draft may have been judged already.
type Drafted struct {
	Round    int     `json:"round"`
	Gamma    int     `json:"gamma"`           // the draft length asked for
	Probe    bool    `json:"probe,omitempty"` // see Round.Probe
	Proposer string  `json:"proposer"`
	Tokens   []Token `json:"tokens"` // without verdicts
	DraftMS  float64 `json:"draftMS"`
}

// FromForm stands in Round.Proposer and Drafted.Proposer where the form of the reply, such as a JSON schema,
// permitted no other text than the draft.
const FromForm = "form"

// Round is one pass of the target and its result.
type Round struct {
	Index     int    `json:"index"` // number of the round in the reply, counted from 0
	Path      string `json:"path"`  // "greedy", "stochastic" or "fallback"; with a server also "drawn" or "reported"
	PathWhy   string `json:"pathWhy"`
	Gamma     int    `json:"gamma"` // the draft length asked for; len(Draft) may be less
	GammaRule string `json:"gammaRule"`
	GammaWhy  string `json:"gammaWhy"` // the reason for Gamma
	// GammaOverruled: Gamma is not what the rule chose; GammaWhy says what overruled the rule.
	GammaOverruled bool   `json:"gammaOverruled,omitempty"`
	GammaOff       string `json:"gammaOff,omitempty"` // why no draft pays at present; empty if one does, or if that is not known
	Probe          bool   `json:"probe,omitempty"`    // this γ was chosen in order to measure, not because it is the best
	// Proposer names what made the draft; of a cascade, the member that drafted. It is FromForm if the form of
	// the reply gave the draft, "server" if a server drafted by itself, and "none" in a round without a draft.
	Proposer string `json:"proposer"`
	// ProposerWhy says why this proposer drafted, if there was a choice.
	ProposerWhy string  `json:"proposerWhy,omitempty"`
	DraftWhy    string  `json:"draftWhy,omitempty"`  // why there is no draft although one was wanted
	DraftStop   string  `json:"draftStop,omitempty"` // why the draft is shorter than Gamma, or that it ends with a stop token
	Draft       []Token `json:"draft"`
	Commit      *Token  `json:"commit,omitempty"` // nil if the reply ended with a draft token
	// Server is set in each round of a server that speculates by itself, even if it drafted nothing in this
	// round. Then no probability is known, and a token that was drafted and not kept has a placeholder for its
	// text (Blanks).
	Server *ServerRound `json:"server,omitempty"`
	// Rule is the acceptance rule. Lossy: under this rule, at this temperature, the text does not have the
	// target's distribution.
	Rule  string `json:"rule,omitempty"`
	Lossy bool   `json:"lossy,omitempty"`
	// Rules says how many draft tokens each rule would have accepted with the same scores and
	// uniforms; set only with inspection on.
	Rules []RuleOutcome `json:"rules,omitempty"`
	// Shaped names what changed the target's scores before they were judged, such as penalties or
	// a constraint. Constraint says what the constraint expects next.
	Shaped     []string `json:"shaped,omitempty"`
	Constraint string   `json:"constraint,omitempty"`
	// GuidanceScale is the scale of classifier-free guidance, or 0 if it is off. With guidance the
	// pass has two rows per token.
	GuidanceScale float64 `json:"guidanceScale,omitempty"`
	Accepted      int     `json:"accepted"`
	Tested        int     `json:"tested"` // draft tokens judged: the accepted ones, and the rejected one if there is one
	Temperature   float64 `json:"temperature"`
	// DraftTemperature is the temperature at which the draft was drawn; 0 if it was not sampled. It may
	// be lower than the target's.
	DraftTemperature float64 `json:"draftTemperature,omitempty"`
	// Milliseconds of each phase, by the engine's clock; showing events slowly does not count. ReadMS is
	// how long the proposer took to read Read tokens that it had missed.
	Read     int     `json:"read,omitempty"`
	ReadMS   float64 `json:"readMS,omitempty"`
	DraftMS  float64 `json:"draftMS"`
	VerifyMS float64 `json:"verifyMS"`
	SampleMS float64 `json:"sampleMS"`
	OtherMS  float64 `json:"otherMS"`
	// BytesMoved is how many bytes were copied from the device for the verdict, or, if a server has the
	// target, sent and received without headers. InspectBytes were copied for display only.
	BytesMoved   int64 `json:"bytesMoved"`
	InspectBytes int64 `json:"inspectBytes,omitempty"`
	Syncs        int   `json:"syncs"`     // how often the host waited for the device or asked the server
	TargetLen    int   `json:"targetLen"` // length of the target's cache after the round, in tokens
	DraftLen     int   `json:"draftLen"`  // length of the proposer's cache; 0 if it has none
	// What the controller expected before the round.
	AcceptanceByPosition []float64 `json:"acceptanceByPosition,omitempty"`
	ExpectedTokens       float64   `json:"expectedTokens,omitempty"`
	// Lengths says what each draft length, from 0 on, should bring, by the times measured in this
	// session. Only some rounds have it.
	Lengths []Length `json:"lengths,omitempty"`
	// BestFixedGamma is, in hindsight, the fixed draft length that would have been fastest so far in this
	// reply. Regret is the fraction of the time that this length would have saved; below 0 if it would have
	// been slower. Both are nil until the reply has had enough rounds.
	BestFixedGamma *int     `json:"bestFixedGamma,omitempty"`
	Regret         *float64 `json:"regret,omitempty"`
	// PlainMS is what a plain round costs at present, by the times measured in this session; 0 if no plain
	// round was timed yet.
	PlainMS float64 `json:"plainMS,omitempty"`
	// Speedup is the time per token of plain rounds, divided by the time per token of the last 20 or so rounds
	// that asked for a draft. Both times are measured in the session and computed for the same load of the
	// machine, without the time that the proposer reads. It is 0 before the first round that asked for a
	// draft. SpeedupEstimated: replies have had too few rounds of one of the two kinds. The time of a plain
	// round may then come from passes timed at the start. Totals.Speedup is the speed-up of a whole reply.
	Speedup          float64 `json:"speedup,omitempty"`
	SpeedupEstimated bool    `json:"speedupEstimated,omitempty"`
}

// ServerRound is what a server tells about a round of its own speculation: how many tokens it drafted
// and kept. The kept tokens are the first of the draft. If the draft has more tokens, the next one was refused
// and the rest were never tested. Everything else is unknown.
type ServerRound struct {
	Round   int `json:"round"`   // index of the round in the reply, as in Round.Index
	Drafted int `json:"drafted"` // Untold if the server tells it only at the end of the reply
	Kept    int `json:"kept"`    // more than Round.Accepted if the reply ended within the draft
	// Merged, if above 1, means that several rounds arrived together: at least Merged of them. It is not
	// known which tokens were drafted, so each token becomes a plain round of its own. The first of these
	// rounds has the counts.
	Merged int `json:"merged,omitempty"`
	// Parts has, for each of the Merged rounds in order, how many draft tokens it kept, if the server tells
	// this at the end. Then it is known which tokens were drafted.
	Parts []int `json:"parts,omitempty"`
}

// Untold is the count that means: the server has not told it.
const Untold = -1

// Loses reports whether a speed-up is a loss that is visible with two digits after the point.
func Loses(speedup float64) bool { return speedup > 0 && speedup < 0.995 }

// Length is what rounds of one draft length should bring.
type Length struct {
	Tokens   float64 `json:"tokens"`             // expected number of tokens that a round commits
	Rounds   float64 `json:"rounds"`             // expected time of a round, in plain rounds
	Measured bool    `json:"measured,omitempty"` // passes over drafts of this length were timed
}

// Speedup returns how much faster rounds of this length are than plain rounds; 0 if that is not known.
func (l Length) Speedup() float64 {
	if !(l.Rounds > 0) || !(l.Tokens > 0) {
		return 0
	}
	return l.Tokens / l.Rounds
}

// RuleOutcome is how many tokens of a round's draft an acceptance rule would have accepted.
type RuleOutcome struct {
	Rule     string `json:"rule"`
	Accepted int    `json:"accepted"`
	Lossy    bool   `json:"lossy,omitempty"`
}

// Committed returns the tokens that this round added to the reply, in order.
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

// CommittedCount returns the number of tokens that this round added to the reply.
func (r *Round) CommittedCount() int {
	n := 0
	for i := range r.Draft {
		if r.Draft[i].Verdict.Committed() {
			n++
		}
	}
	if r.Commit != nil {
		n++
	}
	return n
}

// MS is the round's total time in milliseconds.
func (r *Round) MS() float64 { return r.ReadMS + r.DraftMS + r.VerifyMS + r.SampleMS + r.OtherMS }

// SettingChanged is a change by the user. It is in force from round Round on.
type SettingChanged struct {
	Round int    `json:"round"` // -1 between replies
	Name  string `json:"name"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// ReplyEnded closes a reply.
type ReplyEnded struct {
	Reply  int     `json:"reply"`
	Reason string  `json:"reason"` // "stop", "stop string", "length", "context", "cancelled", "error"
	Text   string  `json:"text"`   // the whole reply, raw
	IDs    []int32 `json:"ids"`
	Totals Totals  `json:"totals"`
	Tail   string  `json:"tail,omitempty"` // text that was held back until the end of the reply
	// Served has the counts of a server's rounds that it told only at the end.
	Served Served `json:"served,omitempty"`
	// Drafts says what each round of a sampled reply drafted, in the format of the setting
	// speculation.drafts. With Drafts and the settings of its ReplyStarted, the reply can be written again.
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
	Device bool   `json:"device,omitempty"` // the device is the cause, not the request
	Model  bool   `json:"model,omitempty"`  // the target's scores are not finite: most likely its weights are damaged
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
