package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/round"
	"specula/tokenizer/chat"
)

// CompareWithDecoding runs the target over a finished reply in two ways: by passes of one row, and by
// passes with the rows of the rounds that wrote the reply. Each way uses only keys and values of the reply
// that its own passes have made; those of the prompt serve both. compared is the number of positions whose
// scores were compared, differ the number of positions whose bits differ. Both are 0 for a target on a server,
// whose passes cannot be repeated. CompareWithDecoding empties the caches before it begins and when it ends.
func (s *Session) CompareWithDecoding(ctx context.Context, prompt string, rounds []event.Round) (compared, differ int, err error) {
	local, here := s.target.(*round.Local)
	if !here {
		return 0, 0, nil
	}
	tokens, _, err := s.engine.fit(ctx, []chat.Message{{Role: "user", Content: prompt}}, s.Settings(), local.Cap())
	if err == nil {
		err = s.empty()
	}
	if err != nil {
		return 0, 0, fmt.Errorf("comparing verification with decoding: %w", err)
	}
	defer func() { err = errors.Join(err, s.empty()) }()
	last := len(tokens) - 1
	if _, err := local.Model.Prefill(ctx, local.Cache, tokens[:last], nil); err != nil {
		return 0, 0, fmt.Errorf("comparing verification with decoding: reading the prompt: %w", err)
	}
	p := passes{local: local, base: last, from: tokens[last], row: make([]float32, s.engine.shape.Vocab)}
	decoded, err := p.decode(ctx, rounds)
	if err == nil {
		err = p.goBack(ctx, tokens[:last])
	}
	if err != nil {
		return 0, 0, fmt.Errorf("comparing verification with decoding: %w", err)
	}
	if compared, differ, err = p.verify(ctx, rounds, decoded); err != nil {
		return compared, differ, fmt.Errorf("comparing verification with decoding: %w", err)
	}
	return compared, differ, nil
}

// passes runs the target over a reply. The prompt has base+1 tokens. At the start of each run the cache holds
// all of them but the last.
type passes struct {
	local *round.Local
	base  int
	from  int32 // the prompt's last token
	row   []float32
	bits  []byte
}

// goBack cuts the cache back to the prompt without its last token.
func (p *passes) goBack(ctx context.Context, prompt []int32) error {
	kept := compute.Reach(p.local.Cache, len(prompt))
	err := p.local.Truncate(kept)
	if err == nil && kept < len(prompt) {
		err = p.local.Prefill(ctx, prompt[kept:], nil)
	}
	return err
}

// fingerprint is a hash of a row of scores. The rows of a whole reply would take gigabytes.
type fingerprint [sha256.Size]byte

// of returns the fingerprints of the first n rows of a pass.
func (p *passes) of(logits compute.Logits, n int) ([]fingerprint, error) {
	var list []fingerprint
	for i := range n {
		if err := logits.Row(i, p.row); err != nil {
			return nil, fmt.Errorf("row %d of %d: %w", i, n, err)
		}
		p.bits = p.bits[:0]
		for _, x := range p.row {
			p.bits = binary.LittleEndian.AppendUint32(p.bits, math.Float32bits(x))
		}
		list = append(list, sha256.Sum256(p.bits))
	}
	return list, nil
}

// decode returns, for each committed token, the fingerprint of the row that this token is chosen from. It
// computes these rows by passes of one row.
func (p *passes) decode(ctx context.Context, rounds []event.Round) (list []fingerprint, err error) {
	at := p.from
	for i := range rounds {
		for _, token := range rounds[i].Committed() {
			logits, err := p.local.Model.Forward(ctx, p.local.Cache, []int32{at})
			if err != nil {
				return nil, err
			}
			one, err := p.of(logits, 1)
			if err != nil {
				return nil, err
			}
			list, at = append(list, one...), token.ID
		}
	}
	return list, nil
}

// verify computes the rows of decode again, by the passes of the rounds, and compares their fingerprints
// with decoded.
func (p *passes) verify(ctx context.Context, rounds []event.Round, decoded []fingerprint) (compared, differ int, err error) {
	at := p.from
	for i := range rounds {
		committed := rounds[i].Committed()
		if len(committed) == 0 {
			continue
		}
		rows := []int32{at}
		for _, token := range rounds[i].Draft {
			rows = append(rows, token.ID)
		}
		logits, err := p.local.Model.Forward(ctx, p.local.Cache, rows)
		if err != nil {
			return compared, differ, fmt.Errorf("round %d: %w", rounds[i].Index, err)
		}
		verified, err := p.of(logits, len(committed))
		if err != nil {
			return compared, differ, fmt.Errorf("round %d: %w", rounds[i].Index, err)
		}
		for _, f := range verified {
			if f != decoded[compared] {
				differ++
			}
			compared++
		}
		at = committed[len(committed)-1].ID
		if err := p.local.Truncate(p.base + compared); err != nil {
			return compared, differ, err
		}
	}
	return compared, differ, nil
}
