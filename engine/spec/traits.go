package spec

// Traits describe a kind of proposer. They are known before a proposer is made, and without a look at
// its type.
type Traits struct {
	Name string // as in the setting speculation.proposer
	From Source // what its tokens come from
	// FindsChats means that it keeps text of earlier chats. A reply that must not depend on them resets it.
	FindsChats bool
	// AutoRank is its place in the order in which the setting auto tries proposers, from 1; 0 if auto
	// never takes it. AutoWhy says in words why auto takes it when it cannot take those before it.
	AutoRank int
	AutoWhy  string
	Words    string // where its tokens come from, in words for the screen
	Help     string // what it does, in words for the file of settings
}

// Source is what draft tokens come from.
type Source int

// The sources. FromText is the text so far, and earlier chats; all others are models.
const (
	FromText   Source = iota
	FromDraft         // a draft model
	FromEither        // the text where it repeats, otherwise a draft model
	FromLayers        // the target without some of its layers
	FromHeads         // trained heads on the target's hidden states
)

// Lookup reports whether the proposer only looks tokens up, which costs nothing. Such a proposer is
// asked in nearly every round, and how much of its draft is worth verifying is decided once the
// draft is known.
func (t Traits) Lookup() bool { return t.From == FromText }

// Hidden reports whether it drafts from hidden states of the target's: it is a HiddenReader, and needs
// those of every pass.
func (t Traits) Hidden() bool { return t.From == FromHeads }

// ReadsAlone reports whether it reads the context with a model of its own before every draft.
func (t Traits) ReadsAlone() bool { return t.From == FromDraft || t.From == FromLayers }
