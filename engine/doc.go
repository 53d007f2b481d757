// Package engine writes replies by speculative decoding and tells everything that happens while it does.
//
// An Engine is a loaded pair of models with tokenizer and chat template. A Session is one conversation on it: it owns the
// KV caches, the proposers and the settings in force, and is the only mutable state. Session.Generate writes one reply and
// yields events (package event); a reader that stops reading stops the reply.
//
// The way of a prompt:
//
//	messages → chat template → tokens                        prompt.go
//	  longest prefix already in the KV caches is kept        prefill.go
//	  { pending changes of settings                          control.go
//	    γ from the controller, draft from the proposer     drafters.go
//	    one target pass over γ+1 rows, verification
//	    both caches cut back to what was committed  }…       round.go
//	  text, held back while it may be part of a stop string  text.go
//
// One invariant holds between rounds and on every way out: the target's cache holds exactly the committed tokens but the
// last, whose row is the first of the next pass. So there is no special case for the first round, after a rejection or
// after a cancelled pass.
package engine
