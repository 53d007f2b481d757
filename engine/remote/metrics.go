package remote

import (
	"context"
	"strconv"
	"strings"
)

// Metrics are counts of a server's own speculation since it started, for all its users together: of drafts, of
// tokens in them, and of accepted ones among these tokens.
type Metrics struct {
	Drafts, Drafted, Accepted float64
}

// Since returns what was counted after the earlier counts.
func (m Metrics) Since(earlier Metrics) Metrics {
	return Metrics{Drafts: m.Drafts - earlier.Drafts, Drafted: m.Drafted - earlier.Drafted, Accepted: m.Accepted - earlier.Accepted}
}

// Metrics reads the page /metrics. It returns a *Refused error if the server was started without that page.
func (s *Server) Metrics(ctx context.Context) (Metrics, error) {
	var text []byte
	if err := s.get(ctx, "/metrics", &text); err != nil {
		return Metrics{}, err
	}
	return readMetrics(string(text)), nil
}

// readMetrics reads the counts of speculation from the text format of Prometheus. llama-server and vLLM
// use names with different prefixes, and vLLM adds labels.
func readMetrics(text string) (m Metrics) {
	for line := range strings.Lines(text) {
		name, value, ok := cutLast(strings.TrimSpace(line), " ")
		number, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || strings.HasPrefix(name, "#") {
			continue
		}
		name, _, _ = strings.Cut(name, "{")
		_, name, _ = strings.Cut(name, ":")
		switch name {
		case "spec_decode_num_drafts_total":
			m.Drafts += number
		case "spec_decode_num_draft_tokens_total":
			m.Drafted += number
		case "spec_decode_num_accepted_tokens_total":
			m.Accepted += number
		}
	}
	return m
}

func cutLast(text, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}
