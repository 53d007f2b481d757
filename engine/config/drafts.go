package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Draft is what rounds in a row drafted. The list of all of them and the seed are what a sampled reply needs to be written again:
// how long a draft is hangs on the clock, and decides which random number decides about which token.
type Draft struct {
	Rounds  int
	Length  int     // tokens; 0 for plain rounds
	Sharpen float64 // factor on the target's temperature that the draft was drawn at; 1 where nothing was drawn
	IDs     []int32 // of a draft that was looked up, and not drawn; nil for one that was drawn
}

// ParseDrafts reads drafts, separated by commas, from "4": 4 tokens, "4@0.5": 4 tokens at half the target's temperature,
// "=12.7": the tokens 12 and 7, which were looked up, each with "x3" behind it for three such rounds.
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

// maxDraftsBytes bounds the list; a reply of 10,000 rounds is below it.
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
