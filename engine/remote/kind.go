package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Kind is the program that serves.
type Kind string

// The kinds that this package can tell apart.
const (
	Llama    Kind = "llama-server"
	VLLM     Kind = "vLLM"
	SGLang   Kind = "SGLang"
	Ollama   Kind = "Ollama"
	LMStudio Kind = "LM Studio"
	Other    Kind = "a server with OpenAI's interface"
)

// owners maps the owner of the models in /v1/models to the kind of server.
func owners() map[string]Kind {
	return map[string]Kind{"llamacpp": Llama, "vllm": VLLM, "sglang": SGLang, "library": Ollama, "organization_owner": LMStudio}
}

// scores reports whether this package can let a server of this kind score tokens that were drafted here.
func (k Kind) scores() bool { return k == Llama || k == VLLM }

// models is the answer of /v1/models, which all kinds have.
type models struct {
	Data []struct {
		ID     string `json:"id"`
		Owner  string `json:"owned_by"`
		Length int    `json:"max_model_len"` // vLLM, SGLang
		Meta   struct {
			Vocab      int    `json:"n_vocab"`
			Context    int    `json:"n_ctx"`
			Parameters int64  `json:"n_params"`
			Bytes      int64  `json:"size"`
			Type       string `json:"ftype"`
		} `json:"meta"` // llama-server
	} `json:"data"`
}

// identify asks the server what it is and which models it has.
func (s *Server) identify(ctx context.Context) error {
	var list models
	if err := s.get(ctx, "/v1/models", &list); err != nil {
		return err
	}
	if len(list.Data) == 0 {
		return errors.New("it lists no models: load one there first")
	}
	at := 0
	var names []string
	for i, m := range list.Data {
		names = append(names, s.shown(m.ID))
		if m.ID == s.options.Model {
			at = i
		}
	}
	switch m := list.Data[at]; {
	case s.options.Model == "" && len(names) > 1:
		return fmt.Errorf("it has several models, name one by --model NAME, or by /remote ADDRESS NAME: %s", listed(names))
	case s.options.Model != "" && s.options.Model != m.ID:
		return fmt.Errorf("it has no model %q: it has %s", s.options.Model, listed(names))
	default:
		s.model, s.kind, s.context, s.vocab = m.ID, Other, max(m.Length, m.Meta.Context), m.Meta.Vocab
		s.facts = facts{parameters: m.Meta.Parameters, bytes: m.Meta.Bytes, weightType: s.shown(m.Meta.Type)}
		if kind, known := owners()[m.Owner]; known {
			s.kind = kind
		}
	}
	if s.kind == Llama {
		return s.readProps(ctx)
	}
	return nil
}

// readProps reads what only llama-server tells: how many sequences it computes at once, their length, its
// build, and whether it speculates.
func (s *Server) readProps(ctx context.Context) error {
	var props struct {
		Default struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Slots int    `json:"total_slots"`
		Build string `json:"build_info"`
	}
	if err := s.get(ctx, "/props", &props); err != nil {
		return err
	}
	s.slots, s.facts.build = props.Slots, s.shown(props.Build)
	if props.Default.Context > 0 { // otherwise the length from the list of models stays
		s.context = props.Default.Context
	}
	var slots []struct {
		Speculates bool `json:"speculative"`
	}
	err := s.get(ctx, "/slots", &slots)
	var refused *Refused
	if errors.As(err, &refused) && (refused.Status == http.StatusNotFound || refused.Status == http.StatusNotImplemented) {
		return nil // the server was started without this page
	}
	for _, slot := range slots {
		s.facts.speculates = s.facts.speculates || slot.Speculates
	}
	return err
}

// mostListed is how many names listed writes out.
const mostListed = 8

func listed(names []string) string {
	text := strings.Join(names[:min(len(names), mostListed)], ", ")
	if more := len(names) - mostListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Description is what a server tells about its model, and what it can do.
type Description struct {
	Kind              Kind
	Address, Model    string
	Host              string // host of the address, with its port
	Context, Vocab    int    // tokens
	Slots             int    // sequences at the same time; 0: unknown
	Parameters, Bytes int64
	WeightType, Build string
	// Speculates: the server speculates by itself. It scores our drafts without its own speculation.
	Speculates bool
	Scores     bool // it can score drafts made by this program
	Compared   bool // its vocabulary was compared with the one read here
}

// Describe returns the description of the server.
func (s *Server) Describe() Description {
	f, host := s.facts, ""
	if u, err := url.Parse(s.base); err == nil { // it was parsed before
		host = u.Host
	}
	return Description{Kind: s.kind, Address: s.base, Host: host, Model: s.model, Context: s.context, Vocab: s.vocab, Slots: s.slots,
		Parameters: f.parameters, Bytes: f.bytes, WeightType: f.weightType, Build: f.build, Speculates: f.speculates, Scores: s.kind.scores(), Compared: s.compared}
}
