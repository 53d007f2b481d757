package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"specula/engine/event"
)

// Report is the result of Run. Its JSON is stable: fields may be added, not changed.
type Report struct {
	Prompts    int        `json:"prompts"`
	GenTokens  int        `json:"genTokens"`
	Repeats    int        `json:"repeats"`
	Same       int        `json:"same"`    // number of prompts whose greedy texts are identical
	AllSame    bool       `json:"matched"` // the greedy texts of all prompts are identical
	Mismatches []Mismatch `json:"mismatches"`
	EndToEnd
	Greedy  Mode `json:"greedy"`
	Sampled Mode `json:"sampled"`

	// About is filled in by the caller: the models and the settings that were measured.
	About About `json:"about"`
}

// EndToEnd has the greedy results again, under the names that the program bench-speculative gives them.
type EndToEnd struct {
	// VerifyDecodeMismatches is the number of positions of speculative greedy replies at which the
	// scores differ in some bit from those of decoding token by token. VerifyDecodeCompared is the
	// number of compared positions.
	VerifyDecodeMismatches int `json:"verify_decode_mismatches"`
	VerifyDecodeCompared   int `json:"verify_decode_compared"`
	// AcceptanceRate is accepted over drafted tokens. Unlike Side.Acceptance, it also counts draft tokens
	// after a rejection, which were never tested.
	AcceptanceRate float64 `json:"acceptance_rate"`
	// SpeedupE2E is baseline over speculative milliseconds per token. The time includes all that a
	// draft model reads, but not the target's reading of the prompt.
	SpeedupE2E          float64 `json:"speedup_e2e"`
	SpecTPOTMS          float64 `json:"spec_e2e_tpot_ms"`
	BaselineTPOTMS      float64 `json:"baseline_e2e_tpot_ms"`
	TokensPerTargetStep float64 `json:"tokens_per_target_step"`
}

func (b *bench) endToEnd(greedy *Mode) EndToEnd {
	spec := &greedy.Speculative
	return EndToEnd{
		VerifyDecodeMismatches: b.drifted, VerifyDecodeCompared: b.compared,
		AcceptanceRate: over(float64(spec.Accepted), float64(spec.Drafted)), SpeedupE2E: over(greedy.Plain.MSPerToken(), spec.MSPerToken()),
		SpecTPOTMS: spec.MSPerToken(), BaselineTPOTMS: greedy.Plain.MSPerToken(), TokensPerTargetStep: spec.TokensPerPass(),
	}
}

// About says what was measured.
type About struct {
	Ready     event.Ready `json:"ready"`
	Proposer  string      `json:"proposer"`
	Gamma     int         `json:"gamma"`
	GammaMax  int         `json:"gammaMax"`
	GammaRule string      `json:"gammaRule"`
	PromptSet string      `json:"promptSet,omitempty"` // "gsm8k"; empty: the built-in prompts, or lines of a file
	// Acceptance is the rule of acceptance. A lossy rule changes sampled replies.
	Acceptance string `json:"acceptance"`
}

// Drafter returns the proposer that the setting names. For auto it adds the one that auto chose.
func Drafter(setting string, r event.Ready) string {
	if setting == "auto" && r.Auto != nil {
		return "auto: " + r.Auto.Proposer
	}
	return setting
}

// Mismatch is a prompt whose greedy texts differ.
type Mismatch struct {
	Prompt   string `json:"prompt"`
	Position int    `json:"position"` // index of the first token that differs
}

func (b *bench) report() *Report {
	mismatches := []Mismatch{}
	for i, at := range b.differs {
		if at >= 0 {
			mismatches = append(mismatches, Mismatch{Prompt: b.options.Prompts[i], Position: at})
		}
	}
	r := &Report{
		Prompts: len(b.options.Prompts), GenTokens: b.options.GenTokens, Repeats: b.options.Repeats,
		Same: len(b.options.Prompts) - len(mismatches), Mismatches: mismatches,
		Greedy: compare(0, b.pairs(false)), Sampled: compare(b.options.Temperature, b.pairs(true)),
	}
	r.AllSame = r.Same == r.Prompts
	r.EndToEnd = b.endToEnd(&r.Greedy)
	return r
}

// Matched reports whether all greedy texts, and all bits of their scores, were the same with and
// without speculation.
func (r *Report) Matched() bool { return r.AllSame && r.VerifyDecodeMismatches == 0 }

// WriteTable writes the report for people. It escapes prompts, but not the names of models: the
// caller must make the output safe for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	r.writeHead(&b)
	t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	row := func(name string, cell func(Mode) string) {
		fmt.Fprintf(t, "%s\t%s\t%s\n", name, cell(r.Greedy), cell(r.Sampled))
	}
	fmt.Fprintf(t, "\tgreedy\tsampled, temperature %g\n", r.Sampled.Temperature)
	fmt.Fprintf(t, "matched\t%v, %d of %d\t–\n", r.AllSame, r.Same, r.Prompts)
	fmt.Fprintf(t, "verified scores unlike decoded\t%d of %d\t–\n", r.VerifyDecodeMismatches, r.VerifyDecodeCompared)
	row("acceptance", func(m Mode) string { return percent(m.Speculative.Accepted, m.Speculative.Tested) })
	row("  by position", func(m Mode) string { return byPosition(m.Speculative.Positions) })
	row("tokens per target pass", func(m Mode) string { return figure("%.2f", m.Speculative.TokensPerPass()) })
	row("ms per token, plain", func(m Mode) string { return figure("%.3f", m.Plain.MSPerToken()) })
	row("ms per token, speculative", func(m Mode) string { return figure("%.3f", m.Speculative.MSPerToken()) })
	row("speed-up [95 % interval]", func(m Mode) string { return interval(m.Speedup) })
	row("the formula predicts", predicted("×%.2f", func(p *Prediction) float64 { return p.Speedup }))
	row("  from drafted tokens a round", predicted("%.2f", func(p *Prediction) float64 { return p.Gamma }))
	row("  expected tokens a round", predicted("%.2f", func(p *Prediction) float64 { return p.TokensARound }))
	row("  ms of a draft token", predicted("%.3f", func(p *Prediction) float64 { return p.DraftMS }))
	row("  ms of a plain target pass", predicted("%.3f", func(p *Prediction) float64 { return p.PlainMS }))
	row("  ms of a verification", predicted("%.3f", func(p *Prediction) float64 { return p.VerifyMS }))
	if err := t.Flush(); err != nil {
		return err
	}
	for _, m := range r.Mismatches {
		fmt.Fprintf(&b, "differs from token %d on: %.64q\n", m.Position, m.Prompt)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeHead(b *strings.Builder) {
	a, draft := r.About, "no draft model"
	if a.Ready.Draft != nil {
		draft = "draft " + a.Ready.Draft.Name
	}
	fmt.Fprintf(b, "target %s, %s, proposer %s, γ %s", a.Ready.Target.Name, draft, a.Proposer, a.gamma())
	if a.Acceptance != "" {
		fmt.Fprintf(b, ", acceptance %s", a.Acceptance)
	}
	b.WriteString("\n")
	set := "prompts"
	if a.PromptSet != "" {
		set = "prompts of " + a.PromptSet
	}
	fmt.Fprintf(b, "on %s; %d %s, up to %d tokens each", a.Ready.Device, r.Prompts, set, r.GenTokens)
	if r.Repeats > 1 {
		fmt.Fprintf(b, ", the median of %d", r.Repeats)
	}
	b.WriteString("\n\n")
}

// gamma returns a text that says which draft lengths were measured.
func (a *About) gamma() string {
	if a.GammaRule == "cost-aware" {
		return fmt.Sprintf("0 to %d (cost-aware)", a.GammaMax)
	}
	return fmt.Sprintf("%d (%s)", a.Gamma, a.GammaRule)
}

// figure formats a number. It returns "–" for 0, which means that there was nothing to measure.
func figure(format string, x float64) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf(format, x)
}

func percent(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %% (%d of %d)", 100*float64(part)/float64(whole), part, whole)
}

func byPosition(shares []Share) string {
	if len(shares) == 0 {
		return "–"
	}
	var cells []string
	for _, s := range shares {
		cell := "–"
		if s.Tested > 0 {
			cell = fmt.Sprintf("%.0f", 100*float64(s.Kept)/float64(s.Tested))
		}
		cells = append(cells, cell)
	}
	return strings.Join(cells, " ") + " %"
}

func interval(i *Interval) string {
	if i == nil {
		return "–"
	}
	return fmt.Sprintf("×%.2f [%.2f, %.2f]", i.Value, i.Low, i.High)
}

// predicted formats a figure of the prediction, or – if there is none.
func predicted(format string, of func(*Prediction) float64) func(Mode) string {
	return func(m Mode) string {
		if m.Predicted == nil {
			return "–"
		}
		return fmt.Sprintf(format, of(m.Predicted))
	}
}
