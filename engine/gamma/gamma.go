// Package gamma chooses γ, the number of tokens to draft in the next round.
//
// A round with draft length γ commits 1 + a₁ + a₁a₂ + … + a₁⋯a_γ tokens on average. Here a_i is the chance
// that draft token i is accepted, given that all before it were. The round takes γ draft steps and one
// target pass over γ+1 rows. The cost-aware rule picks the γ with the most expected tokens per unit of
// time. γ = 0 (plain decoding) is one of the choices, so speculation that does not pay switches itself
// off.
//
// Read it in this order. The engine uses Controller: before each round Next returns a Decision, and after it
// Observe takes an Observation. acceptance estimates a_i. costs is the ledger of measured times. lengths.go
// computes from both what each γ should bring. costaware.go decides by this, and remote.go says what a network
// changes. confidence.go can end a draft early. tally.go looks back. windowed.go is an older rule.
//
// One invariant: the package only computes. It has no clock, no device and no randomness; durations
// come in through Observation. With NominalCosts the same tokens always lead to the same choices.
package gamma

import "fmt"

// Rule names a way of choosing γ.
type Rule string

// The rules, spelled as in the setting "gamma_rule".
const (
	Fixed     Rule = "fixed"      // Options.Gamma, at most Options.Max
	Windowed  Rule = "windowed"   // halve when acceptance over a window is low, restore when it is high
	CostAware Rule = "cost-aware" // most expected tokens per time
)

// Options configure a Controller. All of them may change between two rounds.
type Options struct {
	Rule  Rule
	Gamma int // the γ of the fixed rule, and the full γ of the windowed rule
	Max   int // the largest γ that any rule may choose
	// Lookup: the proposer only looks tokens up, which costs nothing. Then the cost-aware rule lets it
	// look in nearly every round, and Trim chooses afterwards how many tokens to verify.
	Lookup bool
	Remote bool // a round crosses a network; see remote.go
	// Window, Low and High belong to the windowed rule: if the acceptance of the last Window rounds is below
	// Low, γ is halved; above High it is restored.
	Window    int
	Low, High float64
	Nominal   *NominalCosts // if not nil, they replace measured costs
}

// Decision is the choice for one round.
type Decision struct {
	Gamma int
	Probe bool   // chosen in order to measure, not because it is the best
	Why   string // the reason, with its numbers
	// Off says why no draft pays; "" if one pays, if too little is known, or if the rule is not CostAware.
	Off        string
	Expected   float64   // committed tokens that the controller expects of the round
	Acceptance []float64 // for i below Max: a_i, the chance that draft token i is accepted, given that all before it were
}

// Observation is the result of one round, whoever chose its γ.
type Observation struct {
	Asked  bool // a proposer was asked for a draft, even if it had none
	Forced bool // the form of the reply gave the draft: it took no draft step, and says nothing about the proposer
	// Drafted is the number of tokens proposed: 0 in a plain round. It is also 0 in a round whose proposer
	// failed; such a round has Tested 1 and Accepted 0.
	Drafted  int
	Tested   int // draft tokens that the target judged
	Accepted int
	// DraftMS is the time of drafting, without ReadMS. VerifyMS is the time of the target's pass and of
	// all other work of the round. Both are in milliseconds.
	DraftMS, VerifyMS float64
	// Pending is the number of committed tokens that the first draft step had to read. DraftMS tells the cost
	// of draft steps with at most 2 of them, and the cost of reading with more than fewPending.
	Pending int
	// Read is the number of committed tokens that the proposer read before its first step, because it
	// had missed them. ReadMS is how long this took, in milliseconds.
	Read   int
	ReadMS float64
	// Chances has the acceptance probability min(1, p/q) of each of the Tested tokens, or 0 where the caller
	// counts it as refused. It tells the same as the verdicts, with less variance. It is nil if p or q is not
	// known, as at temperature 0, and under a rule of acceptance other than token.
	Chances []float64
	// Confidence has the proposer's own probability of each of the Drafted tokens; nil if the proposer
	// gives none.
	Confidence []float64
}

// held returns how much of tested token i was accepted: its chance if that is known, else 1 or 0.
func (o *Observation) held(i int) float64 {
	switch {
	case i < len(o.Chances):
		return o.Chances[i]
	case i < o.Accepted:
		return 1
	}
	return 0
}

// Outlook is what the controller must be told about the coming round.
type Outlook struct {
	Unread int // committed tokens that the proposer missed and must read before it can draft
	Left   int // tokens that the reply may still have
	// The other fields are for Options.Remote. Streams: a stream of plain tokens is open, which a draft would
	// end. The server scores draft token i in sequence i. To read what this sequence has missed takes about
	// MissedMS[i] milliseconds; nil or 0 if that is short or not known.
	Streams  bool
	MissedMS []float64
}

// Controller chooses γ for each round with one proposer, and learns from the results. Only one goroutine
// may use it.
type Controller struct {
	options     Options
	acceptance  acceptance
	confidence  calibration
	clock       costs  // measured costs
	costs       *costs // the costs in use: clock, or nominal costs
	window      window
	reply       tally // the rounds of the current reply
	recent      tally // rounds that asked for a draft, newer ones with more weight
	replyTokens rate  // mean length of a reply
	// Numbers of rounds over all replies: drafts counts those with a draft or with a proposer that failed, plain
	// the plain ones, and sincePlain those with a draft since the last plain one.
	drafts, plain, sincePlain int
	saved                     float64 // budget for the next try while no draft pays, in units of cost; 0 after a draft
	rest                      int     // coming rounds that repeat the decision not to draft

	// What is known about the current round before it runs.
	outlook  Outlook
	decision Decision
	lengths  []Length // what each draft length from 0 to Max should bring
	reach    float64  // chance that every token drafted so far is accepted
}

// New returns a controller that has learned nothing.
func New(o Options) *Controller {
	c := &Controller{replyTokens: rate{mean: usualReply}, clock: costs{load: 1}}
	c.Configure(o)
	return c
}

// Configure changes the options from the next round on. What was learned stays.
func (c *Controller) Configure(o Options) {
	if o.Rule != c.options.Rule || o.Gamma != c.options.Gamma || o.Max != c.options.Max {
		c.window = window{gamma: min(o.Gamma, o.Max), why: "no window of rounds yet"}
	}
	c.options, c.costs, c.rest, c.clock.remote = o, &c.clock, 0, o.Remote
	if o.Nominal != nil {
		c.costs = o.Nominal.ledger(max(o.Max, len(c.clock.passes)-1))
	}
	if c.confidence.memory = memory; o.Lookup {
		c.confidence.memory = lookupMemory
	}
}

// BeginReply starts a new reply and drops what was learned for the previous reply alone.
func (c *Controller) BeginReply() {
	if c.reply.tokens > 0 {
		c.replyTokens.add(c.reply.tokens, 1, memory)
	}
	c.reply, c.rest = tally{}, 0
	c.acceptance.begin()
}

// Next chooses γ for the coming round.
func (c *Controller) Next(o Outlook) Decision {
	c.outlook = o
	if c.rest > 0 {
		c.rest--
		c.saved += tryBudget * c.lengths[0].Cost
		return c.decision
	}
	c.lengths = c.costs.expect(c.options.Max, c.acceptance.at)
	c.reach = 1
	var d Decision
	switch c.options.Rule {
	case Fixed:
		d = Decision{Gamma: min(c.options.Gamma, c.options.Max), Why: "as set"}
	case Windowed:
		d = Decision{Gamma: c.window.gamma, Why: c.window.why}
	case CostAware:
		d = c.mostTokensPerCost()
	default:
		panic(fmt.Sprintf("gamma: no rule %q", c.options.Rule))
	}
	if d.Gamma > 0 && (c.sincePlain >= plainEvery || c.plain < plainFewest && c.sincePlain >= plainSoon && !c.options.Remote) {
		d = Decision{Gamma: 0, Probe: true, Why: "measures the speed without a draft, which the speed-up compares with"}
	}
	for i := range c.options.Max {
		d.Acceptance = append(d.Acceptance, c.acceptance.at(i))
	}
	d.Expected = c.lengths[d.Gamma].Tokens
	c.decision = d
	return d
}

// Rehearse learns costs alone: from a round that was run only to measure them, or while speculation was
// switched off.
func (c *Controller) Rehearse(o Observation) { c.clock.observe(o) }

// Observe learns from a finished round.
func (c *Controller) Observe(o Observation) {
	if missed := c.catchUp(o.Drafted); missed > 0 {
		// Later rounds of this length do not need the time that catchUp estimates. The estimate may be too high,
		// so the round does not become cheaper than expected.
		o.VerifyMS = max(o.VerifyMS-missed, min(o.VerifyMS, c.costs.pass(o.Drafted)))
	}
	c.clock.observe(o)
	c.reply.add(o, 1)
	switch {
	case o.Drafted > 0:
		c.drafts++
		c.sincePlain++
	case o.Tested > 0: // the proposer failed: drafting has cost time, so the round is not plain
		c.drafts++
	default:
		c.plain, c.sincePlain = c.plain+1, 0
	}
	if o.Asked {
		c.recent.add(o, recentShare)
	}
	if o.Forced {
		return
	}
	c.acceptance.observe(o)
	c.confidence.observe(o)
	if o.Drafted > 0 && o.Tested > 0 {
		c.window.observe(float64(o.Accepted)/float64(o.Tested), c.options)
	}
}

// The schedule of plain rounds. The speed-up is measured against plain rounds of the same session, so
// every rule runs some.
const (
	// plainEvery is the number of rounds with a draft after which a plain round comes. These plain
	// rounds cost at most (1 − 1/speed-up)/64 of the time.
	plainEvery = 64
	// The first plainFewest plain rounds come sooner, each after plainSoon rounds with a draft: the first
	// rounds of a session are slow, so the speed-up needs plain rounds that were slow, too. Across a network
	// they do not, because a plain round opens a stream of the server for one token.
	plainSoon, plainFewest = 8, 3
)
