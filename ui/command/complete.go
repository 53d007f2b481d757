package command

import (
	"cmp"
	"slices"
	"strings"
)

// Completion lists how a prompt can be completed.
type Completion struct {
	Ways  []Way  // the best first
	Usage string // usage of the command, once its name is complete
}

// Way is one possible completion of a prompt.
type Way struct {
	Prompt string // the whole prompt, completed
	Name   string // what the list shows: "/temp", or a value of an argument
	Does   string // what the command does, or what a value means; "" if the value needs no explanation
	Ready  bool   // the prompt can be run: nothing is missing
}

// Complete lists the completions of a prompt with a slash. Up to the first space they are commands: those
// whose name or alias begins with the typed text, or if there are none, those that waysTo finds in another
// way. After the first space they are the values of the command's argument.
func Complete(prompt string) Completion {
	name, arg, named := strings.Cut(strings.TrimPrefix(prompt, "/"), " ")
	if !named {
		return Completion{Ways: waysTo(strings.ToLower(name))}
	}
	call, err := Parse(prompt)
	if err != nil {
		return Completion{}
	}
	done := Completion{Usage: call.Command.Usage()}
	arg = strings.TrimLeft(arg, " ")
	if slices.Contains(call.Command.Choices, arg) {
		return done
	}
	for i, choice := range call.Command.Choices {
		if strings.HasPrefix(choice, arg) {
			w := Way{Prompt: "/" + name + " " + choice, Name: choice, Ready: true}
			if call.Command.Meanings != nil {
				w.Does = call.Command.Meanings[i]
			}
			done.Ways = append(done.Ways, w)
		}
	}
	return done
}

// waysTo lists the commands that a typed name may mean, the most similar first.
func waysTo(name string) []Way {
	type found struct {
		far int
		way Way
	}
	var all []found
	for _, c := range Table() {
		far := c.distance(name)
		if far == other {
			continue
		}
		w := Way{Prompt: "/" + c.Name, Name: "/" + c.Name, Does: c.Doc, Ready: !c.needsArgument()}
		if c.Args != "" {
			w.Prompt += " "
		}
		all = append(all, found{far, w})
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.far, b.far) })
	var ways []Way
	for _, f := range all {
		if f.far >= part && all[0].far < part {
			break // some names begin with the text, so leave out commands that only contain it
		}
		ways = append(ways, f.way)
	}
	return ways
}

// How similar a typed text is to a command, from most to least.
const (
	whole = iota // the text is the name, or another spelling
	begun        // the name begins with the text
	alias        // another spelling begins with the text
	part         // the name contains the text
	about        // a word of the explanation begins with the text
	other        // none of these
)

// minPart is the least length in bytes of a typed text that is also searched for inside names and
// explanations. A shorter text occurs in too many commands.
const minPart = 3

func (c Command) distance(name string) int {
	begins := func(s string) bool { return strings.HasPrefix(s, name) }
	switch {
	case c.Name == name, slices.Contains(c.Aliases, name):
		return whole
	case begins(c.Name):
		return begun
	case slices.ContainsFunc(c.Aliases, begins):
		return alias
	case len(name) < minPart:
		return other
	case strings.Contains(c.Name, name):
		return part
	case slices.ContainsFunc(strings.Fields(strings.ToLower(c.Doc)), begins):
		return about
	}
	return other
}

// needsArgument reports whether a command does nothing without an argument. The command of a setting
// counts, too: without an argument it only shows the value.
func (c Command) needsArgument() bool {
	return c.Verb == Set || c.Args != "" && !strings.HasPrefix(c.Args, "[")
}
