package remote

import (
	"encoding/json"
	"fmt"
)

// How each kind of server reports its own speculation in the events of a stream.

// llama reads an event of llama-server. The counts rise with the first token of a round; the other tokens
// of the round follow.
func (w *Watch) llama(data []byte) (piece, error) {
	var a llamaAnswer
	if err := json.Unmarshal(data, &a); err != nil {
		return piece{}, unreadable(err)
	}
	if err := w.server.same(a.Model); err != nil {
		return piece{}, err
	}
	p := piece{ids: a.Tokens, told: a.Timing.Written > 0, ended: a.Stop, count: counters{drafted: a.Timing.Drafted, kept: a.Timing.Accepted}}
	if len(p.ids) == 0 {
		return p, nil
	}
	w.now = max(w.now, a.Timing.MS)
	if len(p.ids) != 1 {
		return piece{}, fmt.Errorf("%w: it sent %d tokens in one piece of a stream", errFalse, len(p.ids))
	}
	missing := a.Timing.Written - w.tokens - 1
	if missing < 0 || missing > mostMissing {
		return piece{}, fmt.Errorf("%w: the stream jumps from token %d to %d", errFalse, w.tokens, a.Timing.Written)
	}
	if missing == 0 {
		if err := w.server.spelling.checkText(p.ids[0], a.Content); err != nil {
			return piece{}, err
		}
	} else {
		ids, err := w.server.spelling.recover(a.Content, p.ids[0], missing)
		if err != nil {
			return piece{}, err
		}
		p.ids = append(ids, p.ids...)
	}
	return p, nil
}

// vllm reads an event of vLLM's /v1/completions.
func (w *Watch) vllm(data []byte) (piece, error) {
	var a struct {
		Model   string `json:"model"`
		Choices []struct {
			IDs    []int32 `json:"token_ids"`
			Reason *string `json:"finish_reason"`
		} `json:"choices"`
		Metrics *struct {
			Speculation *closing `json:"speculative_decoding"`
		} `json:"metrics"`
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return piece{}, unreadable(err)
	}
	if err := w.server.same(a.Model); err != nil {
		return piece{}, err
	}
	if a.Metrics != nil {
		w.closed = a.Metrics.Speculation
	}
	if len(a.Choices) == 0 { // the last event, with the totals
		return piece{ended: true}, nil
	}
	if a.Choices[0].Reason != nil && *a.Choices[0].Reason == "error" {
		return piece{}, fmt.Errorf("the server failed in the middle of the reply: look into its log")
	}
	return piece{ids: a.Choices[0].IDs}, nil
}

// sglang reads an event of SGLang's /generate. The event has the ids of the whole reply so far; with
// --incremental-streaming-output, only the new ids.
func (w *Watch) sglang(data []byte) (piece, error) {
	var a struct {
		IDs  []int32 `json:"output_ids"`
		Meta struct {
			Reason  json.RawMessage `json:"finish_reason"`
			Tokens  int             `json:"completion_tokens"`
			Steps   *int            `json:"spec_verify_ct"`
			Kept    int             `json:"spec_num_correct_drafts"`
			Drafted int             `json:"spec_num_proposed_drafts"`
		} `json:"meta_info"`
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return piece{}, unreadable(err)
	}
	ids := a.IDs
	switch len(ids) {
	case a.Meta.Tokens:
		if len(ids) < w.tokens {
			return piece{}, fmt.Errorf("%w: its reply shrinks from %d tokens to %d", errFalse, w.tokens, len(ids))
		}
		ids = ids[w.tokens:]
	case a.Meta.Tokens - w.tokens:
	default:
		return piece{}, fmt.Errorf("%w: after %d tokens it sent %d, and counts %d", errFalse, w.tokens, len(ids), a.Meta.Tokens)
	}
	p := piece{ids: ids, told: a.Meta.Steps != nil, ended: len(a.Meta.Reason) > 0 && string(a.Meta.Reason) != "null"}
	if p.told {
		p.count = counters{steps: *a.Meta.Steps, drafted: a.Meta.Drafted, kept: a.Meta.Kept}
	}
	return p, nil
}

func unreadable(err error) error { return fmt.Errorf("a piece of the stream cannot be read: %w", err) }
