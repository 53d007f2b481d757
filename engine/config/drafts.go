package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Draft says what each of some consecutive rounds drafted. A sampled reply can be written again from its seed
// and all its drafts. The seed alone is not enough: the length of a draft depends on the clock, and
// this length decides with which random numbers later tokens are tested and drawn.
type Draft struct {
	Rounds  int     // number of consecutive rounds
	Length  int     // tokens drafted in each of them; 0 for plain rounds
	Sharpen float64 // the draft's temperature divided by the target's; 1 if nothing was sampled
	IDs     []int32 // the tokens of a draft that was made without chance, such as a looked-up one; nil for a sampled one
}

// ParseDrafts reads drafts, separated by commas. "4" is a draft of 4 tokens, and "4@0.5" is one of 4
// tokens at half the target's temperature. "=12.7" is a draft that was made without chance: the tokens 12 and 7.
// "4x3" means three rounds that drafted 4 tokens each; the other forms may end in "x3", too. An empty text gives
// no drafts.
func ParseDrafts(text string) ([]Draft, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > maxDraftsBytes {
		return nil, fmt.Errorf("it has %d bytes; at most %d are read", len(text), maxDraftsBytes)
	}
	var list []Draft
	for _, entry := range strings.Split(text, ",") {
		d, err := parseDraft(entry)
		if err != nil {
			return nil, fmt.Errorf("entry %d, %.32q: %w", len(list)+1, entry, err)
		}
		list = append(list, d)
	}
	return list, nil
}

// maxDraftsBytes limits the text of the list: 26 bytes for each of 10,000 rounds.
const maxDraftsBytes = 256 << 10

func parseDraft(entry string) (Draft, error) {
	d := Draft{Rounds: 1, Sharpen: 1}
	what, times, repeated := strings.Cut(entry, "x")
	if repeated {
		var err error
		if d.Rounds, err = strconv.Atoi(times); err != nil || d.Rounds < 1 {
			return d, fmt.Errorf("%.32q is no number of rounds", times)
		}
	}
	if ids, lookedUp := strings.CutPrefix(what, "="); lookedUp {
		for _, text := range strings.Split(ids, ".") {
			id, err := strconv.ParseInt(text, 10, 32)
			if err != nil || id < 0 {
				return d, fmt.Errorf("%.32q is no token", text)
			}
			d.IDs = append(d.IDs, int32(id))
		}
		d.Length = len(d.IDs)
	} else {
		length, factor, sharpened := strings.Cut(what, "@")
		var err error
		if d.Length, err = strconv.Atoi(length); err != nil {
			return d, fmt.Errorf("%.32q is no number of tokens", length)
		}
		if sharpened {
			if d.Sharpen, err = strconv.ParseFloat(factor, 64); err != nil || !(d.Sharpen > 0 && d.Sharpen <= 1) {
				return d, fmt.Errorf("%.32q is no factor above 0 to 1", factor)
			}
		}
	}
	if d.Length < 0 || d.Length > MaxGamma {
		return d, fmt.Errorf("a draft has 0 to %d tokens", MaxGamma)
	}
	return d, nil
}

// FormatDrafts is the inverse of ParseDrafts.
func FormatDrafts(list []Draft) string {
	entries := make([]string, len(list))
	for i, d := range list {
		entry := strconv.Itoa(d.Length)
		for k, id := range d.IDs {
			entry = map[bool]string{true: "=", false: entry + "."}[k == 0] + strconv.Itoa(int(id))
		}
		if d.IDs == nil && d.Sharpen != 1 {
			entry += "@" + number(d.Sharpen)
		}
		if d.Rounds > 1 {
			entry += "x" + strconv.Itoa(d.Rounds)
		}
		entries[i] = entry
	}
	return strings.Join(entries, ",")
}

func checkDrafts(v string) error {
	_, err := ParseDrafts(v)
	return err
}
