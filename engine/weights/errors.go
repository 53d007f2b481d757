package weights

import (
	"errors"
	"fmt"
	"strconv"

	"specula/kernels/format"
)

// ErrMalformed is wrapped by each error about a file that breaks the rules of its format. A ForeignError
// is about a file of another format.
var ErrMalformed = errors.New("malformed model file; download or convert it again")

// ErrUnsupportedType is wrapped if a tensor has a type that specula can list but not compute with.
var ErrUnsupportedType = errors.New("convert the model to " + format.Names(" or "))

// ErrChanged is wrapped if a file changed since reading began.
var ErrChanged = errors.New("the file changed while it was read; try again when nothing writes to it")

// MalformedError says where a model file breaks which rule. It wraps ErrMalformed.
type MalformedError struct {
	File    string // path or name, as given to Open or Parse
	Field   string // such as "tensors[3] \"blk.0.attn_q.weight\" dims[1]"; quoted text is cut
	Offset  int64  // position of the field's first byte in the file
	Got     string
	Allowed string
}

func (e *MalformedError) Error() string {
	return fmt.Sprintf("reading %q: %s at byte %d: got %s, allowed %s: %v", e.File, e.Field, e.Offset, e.Got, e.Allowed, ErrMalformed)
}

// Unwrap makes errors.Is(err, ErrMalformed) true.
func (e *MalformedError) Unwrap() error { return ErrMalformed }

// maxQuoted is how many bytes of a file's text an error or a report repeats.
const maxQuoted = 64

// quote makes text from a file safe to show: escaped and cut.
func quote(s string) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(s)
	}
	return strconv.Quote(s[:maxQuoted]) + "…"
}
