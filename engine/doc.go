// Package engine writes replies by speculative decoding and tells everything that happens while it does.
//
// An Engine is a loaded pair of models with tokenizer and chat template. A Session is one conversation
// on it: it owns what changes from reply to reply, such as the KV caches, the proposers and the settings in
// force. Session.Generate writes one reply and yields events (package event). When the reader of the events
// stops reading, the reply ends.
//
// What happens to a prompt, and the file of each step:
//
//	messages → chat template → tokens                            prompt.go
//	the longest prefix already in the KV cache is kept;
//	the target reads the rest (prefill)                          prefill.go
//	until the reply ends, rounds:                                round.go
//	    settings that were changed meanwhile                     control.go
//	    gamma from its controller, a draft from the proposer     drafters.go, drafted.go
//	    one target pass over gamma+1 rows, then verification     package round
//	    accepted tokens become part of the reply                 commit.go
//	    the caches are cut back: what was refused leaves them    commit.go
//	    the event of the round                                   narrate.go
//
//	tokens → text; a possible start of a stop string waits       text.go
//
// One rule holds for the caches. Between rounds, and after a cancelled one, the target's cache holds all
// committed tokens but the last one. The last token is the first row of the next pass. So the first round
// and a round after a rejection need no code of their own. If reading the prompt was cancelled, the cache
// holds the part of the prompt that was read. After an error in a computation all caches are emptied.
package engine
