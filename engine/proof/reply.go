package proof

import (
	"fmt"
	"iter"
	"strings"

	"specula/engine/event"
)

// Reply is a finished reply.
type Reply struct {
	Rounds []event.Round
	Ended  event.ReplyEnded
	// Most is how many tokens the reply was allowed. Form: the reply had to have a form, which may end
	// it without a stop token.
	Most int
	Form bool
	// Places gives the Place of each written token in order, or an error. It is a sequence because the
	// Places of a whole reply need not fit in memory.
	Places iter.Seq2[Place, error]
}

// Given returns places as a sequence, for Reply.Places.
func Given(places []Place) iter.Seq2[Place, error] {
	return func(yield func(Place, error) bool) {
		for _, p := range places {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// Place has the distributions at the position of a token in its reply.
type Place struct {
	P []float64 // by id: the exact distribution of the token; nil if every token was forbidden
	// Q is a distribution from which a draft token may have been drawn, or nil. It must not depend on
	// the token or on what follows. It is used only to order the tokens.
	Q []float64
}

// Certain returns Place.Q for token i of a round whose draft was looked up: all probability is on the
// draft token. Such a draft depends only on what was written before. The result is nil if no token was
// drafted there, or if the draft was sampled.
func Certain(drafted *event.Drafted, round *event.Round, i, vocab int) []float64 {
	if len(round.Draft) == 0 || drafted.Round != round.Index || i >= len(drafted.Tokens) || drafted.Tokens[i].Q != nil {
		return nil
	}
	q := make([]float64, vocab)
	q[drafted.Tokens[i].ID] = 1
	return q
}

// written is a token of a reply, with its round, its position in the round, and what Add computes from its
// Place.
type written struct {
	event.Token
	round, position int
	values          values
	ending          float64 // probability that the reply ends here
	impossible      bool    // the token has probability 0 here
}

func (r *Reply) written() (list []written) {
	for i := range r.Rounds {
		for k, t := range r.Rounds[i].Committed() {
			list = append(list, written{Token: t, round: i, position: k})
		}
	}
	return list
}

// contradiction says how a reply contradicts itself, or "".
func (j *Judge) contradiction(r *Reply, list []written, places int) string {
	ids := r.Ended.IDs
	var shown strings.Builder
	if len(list) != len(ids) || len(ids) != places {
		return fmt.Sprintf("the rounds wrote %d tokens, the reply has %d, and %d were computed", len(list), len(ids), places)
	}
	for i, t := range list {
		shown.WriteString(t.Text)
		switch {
		case t.ID != ids[i]:
			return fmt.Sprintf("token %d is %d in its round and %d in the reply", i, t.ID, ids[i])
		case t.impossible:
			return fmt.Sprintf("token %d is %d, which has probability 0 there", i, t.ID)
		case j.ends(t.ID) != t.Stop:
			return fmt.Sprintf("token %d is %d, and whether it ends the reply was told wrong", i, t.ID)
		case t.Stop && i < len(list)-1:
			return fmt.Sprintf("token %d ends the reply, and %d follow it", i, len(list)-1-i)
		}
	}
	return j.contradictionAtEnd(r, shown.String()+r.Ended.Tail)
}

// contradictionAtEnd compares the end of a reply with its reason, and its text with its tokens. It
// returns how they differ, or "".
func (j *Judge) contradictionAtEnd(r *Reply, shown string) string {
	ids, reason := r.Ended.IDs, r.Ended.Reason
	stopped := len(ids) > 0 && j.ends(ids[len(ids)-1])
	if stopped {
		ids = ids[:len(ids)-1]
	}
	text := j.decode(ids)
	switch {
	case stopped != (reason == "stop") && !(reason == "stop" && r.Form):
		return fmt.Sprintf("it ended by %q, and that its last token ends replies is %v", reason, stopped)
	case reason == "length" && len(r.Ended.IDs) != r.Most:
		return fmt.Sprintf("it ended by %q with %d tokens of %d", reason, len(r.Ended.IDs), r.Most)
	case len(r.Ended.IDs) > r.Most:
		return fmt.Sprintf("it has %d tokens, and %d were allowed", len(r.Ended.IDs), r.Most)
	case shown != r.Ended.Text:
		return fmt.Sprintf("the rounds say %q, the reply %q", shown, r.Ended.Text)
	case reason == "stop string" && strings.HasPrefix(text, shown), text == shown:
		return ""
	}
	return fmt.Sprintf("its tokens say %q, its text %q", text, shown)
}
