package event

import (
	"encoding/json"
	"fmt"
)

// envelope is one line of a trace or of --json output.
type envelope struct {
	Kind string          `json:"kind"`
	AtMS float64         `json:"atMS"` // milliseconds since the stream began
	Data json.RawMessage `json:"data"`
}

// Marshal encodes an event as one line of JSON without the newline. atMS is the time since the
// stream began, in milliseconds.
func Marshal(e Event, atMS float64) ([]byte, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encoding a %s event: %w", e.Kind(), err)
	}
	return json.Marshal(envelope{Kind: e.Kind(), AtMS: atMS, Data: data})
}

// Unmarshal is the inverse of Marshal. It returns events by value.
func Unmarshal(line []byte) (e Event, atMS float64, err error) {
	var env envelope
	if err := json.Unmarshal(line, &env); err != nil {
		return nil, 0, fmt.Errorf("decoding an event: %w", err)
	}
	switch env.Kind {
	case "loading":
		e, err = decode[Loading](env.Data)
	case "ready":
		e, err = decode[Ready](env.Data)
	case "reply-started":
		e, err = decode[ReplyStarted](env.Data)
	case "prefill":
		e, err = decode[Prefill](env.Data)
	case "drafted":
		e, err = decode[Drafted](env.Data)
	case "round":
		e, err = decode[Round](env.Data)
	case "setting-changed":
		e, err = decode[SettingChanged](env.Data)
	case "reply-ended":
		e, err = decode[ReplyEnded](env.Data)
	case "notice":
		e, err = decode[Notice](env.Data)
	case "failed":
		e, err = decode[Failed](env.Data)
	default:
		return nil, 0, fmt.Errorf("decoding an event: unknown kind %.64q", env.Kind)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("decoding a %s event: %w", env.Kind, err)
	}
	return e, env.AtMS, nil
}

func decode[E Event](data []byte) (Event, error) {
	var e E
	err := json.Unmarshal(data, &e)
	return e, err
}

// Objects counts the objects and lists in JSON without decoding it. A few bytes of JSON can become
// a large struct, so call it before decoding events of a foreign file.
func Objects(data []byte) int {
	n, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == '{' || c == '['):
			n++
		}
	}
	return n
}
