package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of a setting's value.
type Kind string

// The kinds.
const (
	Bool   Kind = "true or false"
	Int    Kind = "integer"
	Float  Kind = "number"
	Choice Kind = "choice"
	Text   Kind = "text"
	List   Kind = "list of texts"
)

// Applies says when a changed value takes effect.
type Applies string

// The moments at which a changed value takes effect.
const (
	NextRound Applies = "at the next round" // such a setting may change during a reply
	NextReply Applies = "at the next reply"
	NextStart Applies = "at the next start"
)

// Setting is one row of the table.
type Setting struct {
	Name    string // section and key in config.toml: "sampling.temperature"
	Flag    string // on the command line, without dashes: "temperature"
	Slash   string // name of the command in the chat, without the slash: "temp"; empty if there is no such command
	Doc     string // one line of help, without a full stop
	Example string // a value for the short help, which shows only settings that have one
	Kind    Kind
	Min     float64 // range of Int and Float; Min and Max are allowed, unless OpenMin or OpenMax is set
	Max     float64
	OpenMin bool     // Min itself is not allowed
	OpenMax bool     // Max itself is not allowed
	Choices []string // the values of a Choice
	First   []string // for a Choice that takes a cascade (values separated by commas): the values that may stand before the last one
	Default string   // the default value as text, in the form that Set takes
	Applies Applies

	field    func(*Config) any // returns a pointer to the field
	compiled bool              // a List that is compiled once, before a reply, so it may be long

	check func(v string) error // a further check of a Text; its error becomes ValueError.Allowed
	read  func(v string) error // a further check of a Text; its error becomes ValueError.Why
}

// Live reports whether the setting may change while a reply is being written.
func (s Setting) Live() bool { return s.Applies == NextRound }

// Key returns the name within the section of config.toml.
func (s Setting) Key() string { return s.Name[strings.IndexByte(s.Name, '.')+1:] }

// Section returns the section of config.toml that the setting belongs to.
func (s Setting) Section() string { return s.Name[:strings.IndexByte(s.Name, '.')] }

// Allowed says in words which values are allowed.
func (s Setting) Allowed() string {
	switch s.Kind {
	case Int, Float:
		from, to := "from ", " to "
		if s.OpenMin {
			from, to = "above ", ", at most "
		}
		if s.OpenMax {
			to = " to below "
		}
		return string(s.Kind) + " " + from + number(s.Min) + to + number(s.Max)
	case Choice:
		allowed := "one of " + strings.Join(s.Choices, ", ")
		if s.First != nil {
			allowed += ", or a cascade of different ones, such as suffix,draft, in which all but the last are of " + strings.Join(s.First, ", ")
		}
		return allowed
	}
	return string(s.Kind)
}

// ValueError says that a setting cannot have the value Got.
type ValueError struct {
	Setting string // "sampling.temperature"
	Got     string
	Allowed string // the allowed values
	Why     error  // what is wrong with the value; nil if Allowed says enough
}

func (e *ValueError) Unwrap() error { return e.Why }

func (e *ValueError) Error() string {
	if e.Why != nil {
		return fmt.Sprintf("%s: %v", e.Setting, e.Why)
	}
	return fmt.Sprintf("%s cannot be %.64s: allowed is %s", e.Setting, e.Got, e.Allowed)
}

func (s Setting) refuse(got string) error {
	article := map[Kind]string{Int: "an ", Float: "a ", List: "a "}[s.Kind]
	return &ValueError{Setting: s.Name, Got: got, Allowed: article + s.Allowed()}
}

// parse reads a value as it is typed in a flag or a slash command.
func (s Setting) parse(text string) (any, error) {
	switch s.Kind {
	case Bool:
		i := slices.Index(Switches(), strings.ToLower(text))
		if i < 0 {
			return nil, s.refuse(strconv.Quote(text))
		}
		return i%2 == 0, nil
	case Int:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, s.refuse(strconv.Quote(text))
		}
		return n, nil
	case Float:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, s.refuse(strconv.Quote(text))
		}
		return f, nil
	case List:
		if text == "" {
			return []any{}, nil
		}
		if !strings.HasPrefix(text, "[") {
			return []any{text}, nil
		}
		var list []any
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return nil, s.refuse(strconv.Quote(text))
		}
		return list, nil
	}
	return text, nil
}

// Switches returns the values of a Bool as people type them. Words for true and for false
// alternate, true first.
func Switches() []string { return []string{"true", "false", "on", "off", "yes", "no", "1", "0"} }

// assign checks a value of type bool, int64, float64, string or []any and stores it.
func (s Setting) assign(c *Config, v any) error {
	if n, ok := v.(int64); ok && s.Kind == Float {
		v = float64(n)
	}
	switch at := s.field(c).(type) {
	case *bool:
		b, ok := v.(bool)
		if !ok {
			return s.refuse(describe(v))
		}
		*at = b
	case *int:
		n, ok := v.(int64)
		if !ok || !s.inRange(float64(n)) {
			return s.refuse(describe(v))
		}
		*at = int(n)
	case *int64:
		n, ok := v.(int64)
		if !ok || !s.inRange(float64(n)) {
			return s.refuse(describe(v))
		}
		*at = n
	case *float64:
		f, ok := v.(float64)
		if !ok || !s.inRange(f) {
			return s.refuse(describe(v))
		}
		*at = f
	case *string:
		return s.assignText(at, v)
	case *[]string:
		return s.assignList(at, v)
	}
	return nil
}

// inRange reports whether f is in the range of the setting; NaN is not.
func (s Setting) inRange(f float64) bool {
	return f >= s.Min && f <= s.Max && !(s.OpenMin && f == s.Min) && !(s.OpenMax && f == s.Max)
}

func (s Setting) assignText(at *string, v any) error {
	text, ok := v.(string)
	if s.First != nil {
		text = strings.ReplaceAll(text, "+", ",") // a race writes a cascade with +: commas separate a lane's settings
	}
	if !ok || s.Kind == Choice && !slices.Contains(s.Choices, text) && !s.isCascade(text) {
		return s.refuse(describe(v))
	}
	if strings.ContainsRune(text, 0) {
		return &ValueError{Setting: s.Name, Got: describe(v), Allowed: "text without a zero byte"}
	}
	if s.check != nil {
		if err := s.check(text); err != nil {
			return &ValueError{Setting: s.Name, Got: describe(v), Allowed: err.Error()}
		}
	}
	if s.read != nil {
		if err := s.read(text); err != nil {
			return &ValueError{Setting: s.Name, Got: describe(v), Why: err}
		}
	}
	*at = text
	return nil
}

// isCascade reports whether text is a cascade of different choices.
func (s Setting) isCascade(text string) bool {
	parts := strings.Split(text, ",")
	last := len(parts) - 1
	for i, part := range parts {
		if i < last && !slices.Contains(s.First, part) || slices.Contains(parts[:i], part) {
			return false
		}
	}
	return last > 0 && slices.Contains(s.Choices[1:], parts[last]) // auto is no part of a cascade
}

func (s Setting) assignList(at *[]string, v any) error {
	items, ok := v.([]any)
	if !ok {
		return s.refuse(describe(v))
	}
	most, longest := maxListItems, maxListItemBytes
	if s.compiled {
		most, longest = maxCompiledItems, maxCompiledItemBytes
	}
	if len(items) > most {
		return &ValueError{Setting: s.Name, Got: fmt.Sprintf("a list of %d", len(items)), Allowed: fmt.Sprintf("at most %d texts", most)}
	}
	list := make([]string, 0, len(items))
	for _, item := range items {
		text, ok := item.(string)
		if !ok || text == "" || len(text) > longest {
			return &ValueError{Setting: s.Name, Got: describe(item), Allowed: fmt.Sprintf("texts of 1 to %d bytes", longest)}
		}
		list = append(list, text)
	}
	*at = list
	return nil
}

// The limits of a list: how many texts it has, and the bytes of each. Most lists cost time with each
// token of a reply. A list that is compiled once may be longer.
const (
	maxListItems         = 64
	maxListItemBytes     = 256
	maxCompiledItems     = 10_000
	maxCompiledItemBytes = 4096
)

// format is the inverse of parse and assign.
func (s Setting) format(c *Config) string {
	switch at := s.field(c).(type) {
	case *bool:
		return strconv.FormatBool(*at)
	case *int:
		return strconv.Itoa(*at)
	case *int64:
		return strconv.FormatInt(*at, 10)
	case *float64:
		return number(*at)
	case *[]string:
		if len(*at) == 0 {
			return "[]"
		}
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(*at) // a list of strings always encodes
		return strings.TrimSuffix(b.String(), "\n")
	case *string:
		return *at
	}
	panic("config: no format for the type of setting " + s.Name)
}

func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e16 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// describe formats a value for an error message; texts are quoted and cut.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		if len(v) > 64 {
			return fmt.Sprintf("%.64q…", v)
		}
		return strconv.Quote(v)
	case float64:
		if text := number(v); strings.IndexFunc(text, func(r rune) bool { return r != '-' && (r < '0' || r > '9') }) >= 0 {
			return text
		}
		return number(v) + ".0" // so that 4.0 for an integer does not read like 4
	case []any:
		return "a list"
	case map[string]any, []map[string]any:
		return "a table"
	}
	return fmt.Sprint(v)
}
