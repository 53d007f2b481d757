package tokenizer

// Segment is a part of a prompt with its origin. If Special, the template wrote it, and it may hold
// control tokens. Otherwise it is data, written by a person, a file, a tool or a model. Then the text
// of a control token in it is just text.
type Segment struct {
	Text    string
	Special bool
}
