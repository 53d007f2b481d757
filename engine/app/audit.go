package app

import (
	"context"
	"errors"
	"fmt"

	"specula/assets"
	"specula/engine/audit"
	"specula/engine/config"
	"specula/engine/remote"
)

// AuditOptions say which server to audit, and how.
type AuditOptions struct {
	Config     config.Config // remote.url is the speculating server
	Plain      string        // address of a server with the same model that does not speculate; "": the same server, one token a request
	PromptText string        // content of a file with one prompt per line; "": the built-in prompts
	Count      int           // largest number of prompts
}

// Audit compares a server's texts with and without its own speculation. progress gets the number of
// prompts done.
func (a *App) Audit(ctx context.Context, o AuditOptions, progress func(done, total int)) (Report, error) {
	prompts := assets.Prompts()
	if o.PromptText != "" {
		prompts = assets.ParsePrompts(o.PromptText)
	}
	c := o.Config
	if c.Remote.URL == "" {
		return nil, errors.New("name the server to audit: specula audit http://HOST:PORT")
	}
	for _, v := range [][2]string{{"sampling.temperature", "0"}, {"speculation.enabled", "false"}, {"sampling.logprobs", "0"}, {"model.draft", "none"}, {"device.device", "cpu"}} {
		if err := c.Set(v[0], v[1]); err != nil {
			return nil, err
		}
	}
	c.Remote.Watch = true
	speculative, err := a.silently(ctx, c)
	if err != nil {
		return nil, err
	}
	defer speculative.Close()
	server := speculative.server
	c.Remote.Watch, c.Sampling.Logprobs = false, 2
	if o.Plain != "" {
		c.Remote.URL = o.Plain
	}
	plain, err := a.silently(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("the plain side: %w", err)
	}
	defer plain.Close()
	switch d := plain.server.Describe(); {
	case o.Plain == "":
		plain.server.AskSingly()
	case d.Speculates:
		return nil, errors.New("the server of --plain speculates, too: start one without, or leave --plain out")
	}
	options := audit.Options{Prompts: prompts[:min(o.Count, len(prompts))], Streams: o.Plain != "" && plain.server.Describe().Kind == remote.Llama}
	if options.Count, err = counting(ctx, server); err != nil {
		return nil, fmt.Errorf("reading the server's counters: %w", err)
	}
	r, err := audit.Run(ctx, speculative, plain, options, progress)
	if err != nil {
		return nil, err
	}
	d := server.Describe()
	r.Server = fmt.Sprintf("%s, %s %s", d.Address, d.Kind, d.Build)
	if r.Plain = o.Plain; o.Plain == "" {
		r.Plain = "the same server, one token a request"
	}
	return r, nil
}

// counting returns a function that reads the server's counters; nil if the server refuses to tell them.
func counting(ctx context.Context, s *remote.Server) (func(context.Context) (audit.Counters, error), error) {
	read := func(ctx context.Context) (audit.Counters, error) {
		m, err := s.Metrics(ctx)
		return audit.Counters{Drafted: m.Drafted, Accepted: m.Accepted}, err
	}
	_, err := read(ctx)
	if err == nil {
		return read, nil
	}
	if refused := (*remote.Refused)(nil); errors.As(err, &refused) {
		return nil, nil
	}
	return nil, err
}
