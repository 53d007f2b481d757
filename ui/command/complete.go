package command

import (
	"slices"
	"strings"
)

// Completion says how a prompt can go on.
type Completion struct {
	Prompt     string   // the prompt, extended as far as there is only one way
	Candidates []string // the ways to go on, if there are several
	Usage      string   // of the command, if it is known
}

// Ways returns the prompt with each of the candidates.
func (c Completion) Ways() []string {
	before := "/"
	if i := strings.LastIndexByte(c.Prompt, ' '); i >= 0 {
		before = c.Prompt[:i+1]
	}
	ways := make([]string, len(c.Candidates))
	for i, candidate := range c.Candidates {
		ways[i] = before + candidate
	}
	return ways
}

// Complete completes a prompt that begins with a slash.
func Complete(prompt string) Completion {
	name, arg, named := strings.Cut(strings.TrimPrefix(prompt, "/"), " ")
	if !named {
		return completeName(prompt, strings.ToLower(name))
	}
	call, err := Parse(prompt)
	if err != nil {
		return Completion{Prompt: prompt}
	}
	done := Completion{Prompt: prompt, Usage: call.Command.Usage()}
	arg = strings.TrimLeft(arg, " ")
	if ways := begin(call.Command.Choices, arg); len(ways) > 0 && !slices.Contains(ways, arg) {
		done.Prompt = "/" + name + " " + commonPrefix(ways)
		if len(ways) > 1 {
			done.Candidates = ways
		}
	}
	return done
}

func completeName(prompt, name string) Completion {
	var names []string
	for _, c := range Table() {
		if c.Name == name {
			return Completion{Prompt: "/" + name + " ", Usage: c.Usage()}
		}
		names = append(names, c.Name)
	}
	ways := begin(names, name)
	switch len(ways) {
	case 0:
		if call, err := Parse(prompt); err == nil { // another name of a command, already complete
			return Completion{Prompt: prompt + " ", Usage: call.Command.Usage()}
		}
		return Completion{Prompt: prompt}
	case 1:
		call, _ := Parse("/" + ways[0])
		return Completion{Prompt: "/" + ways[0] + " ", Usage: call.Command.Usage()}
	}
	return Completion{Prompt: "/" + commonPrefix(ways), Candidates: ways}
}

func begin(words []string, prefix string) []string {
	var out []string
	for _, w := range words {
		if strings.HasPrefix(w, prefix) {
			out = append(out, w)
		}
	}
	return out
}

func commonPrefix(words []string) string {
	p := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, p) {
			p = p[:len(p)-1]
		}
	}
	return p
}
