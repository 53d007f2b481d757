package tokenizer

// Segment is a piece of a prompt with its origin.
// Special text was written by the template and may hold control tokens; the rest, whatever a person, a file, a tool or
// a model wrote, is data, in which the text of a control token is just text.
type Segment struct {
	Text    string
	Special bool
}
