package spec

// Traits describe a kind of proposer. They are known before a proposer is made, so that no code needs
// to look at its type.
type Traits struct {
	Name string // a name that the setting speculation.proposer allows
	From Source // what the draft tokens come from
	// FindsChats: the proposer keeps text of earlier chats. For a reply that must not depend on these chats,
	// the proposer is reset.
	FindsChats bool
	// AutoRank is the proposer's place, from 1, in the order in which auto tries proposers; 0: auto never
	// takes it. AutoWhy says why auto takes it, given that the proposers before it cannot draft.
	AutoRank int
	AutoWhy  string
	Words    string // where its tokens come from, for the screen
	Help     string // what it does, for the file of settings
}

// Source is what draft tokens come from.
type Source int

// The sources. FromText is the text so far and earlier chats; all others need a model.
const (
	FromText   Source = iota
	FromDraft         // a draft model
	FromLayers        // the target without some of its layers
	FromHeads         // trained heads on the target's hidden states
)

// Lookup reports whether the proposer only looks tokens up, which costs nothing. Under the rule cost-aware
// such a proposer is asked for a long draft in nearly every round; the controller of γ then trims the draft
// to what is worth verifying.
func (t Traits) Lookup() bool { return t.From == FromText }

// Hidden reports whether the proposer drafts from the target's hidden states. Such a proposer is a
// HiddenReader. While it follows a reply, it needs the states of every pass of the target.
func (t Traits) Hidden() bool { return t.From == FromHeads }

// ReadsAlone reports whether the proposer runs a model of its own over the context before a draft.
func (t Traits) ReadsAlone() bool { return t.From == FromDraft || t.From == FromLayers }
