package event

// Results of the engine that are not events.

// RaceOutcome says whether both lanes of a race wrote the same text.
type RaceOutcome struct {
	Compared bool   `json:"compared"` // both texts are complete, and were compared
	Why      string `json:"why"`      // why the texts must be the same, or need not be
	Same     bool   `json:"same"`
	Free     bool   `json:"free,omitempty"` // the texts may differ: a difference is no error
	Position int    `json:"position"`       // index of the first token that differs; -1 if none does
}

// Table is a part of a description, for example of a model file.
type Table struct {
	Title string
	Rows  [][]string // the cells of each row, not escaped for a terminal
}
