// Package command parses the slash commands of the prompt: "/temp 0.8", "/regen", "/export md notes.md".
//
// Every setting with a Slash in the table of engine/config is a command. It can be called by that name,
// by the setting's flag or by its key in config.toml. The other commands are the verbs below. This
// package does not check values: config.Set does, and the user reads its error.
package command

import (
	"fmt"
	"slices"
	"strings"

	"specula/engine/config"
	"specula/ui/export"
)

// Verb is what a command asks the screen to do.
type Verb int

// The verbs.
const (
	Set Verb = iota // change Command.Setting
	Regenerate
	Edit
	Copy
	New
	Save
	Open
	Export
	Remote
	Record
	Race
	Demo
	Tradeoff
	Present
	Help
	Quit
)

// Command is one slash command.
type Command struct {
	Name     string   // without the slash
	Aliases  []string // other spellings
	Args     string   // for help: "0 to 5"
	Doc      string
	Verb     Verb
	Setting  config.Setting // the setting, if Verb is Set
	Choices  []string       // words the argument may be or begin with
	Meanings []string       // what each of Choices means; nil if the words say it
}

// Call is a typed command.
type Call struct {
	Command Command
	Arg     string // trimmed; "" when none was given
}

// Table returns every command: verbs first, then settings in the order of config.toml.
func Table() []Command {
	out := []Command{
		{Name: "regen", Aliases: []string{"regenerate"}, Verb: Regenerate, Doc: "write the last reply again"},
		{Name: "edit", Verb: Edit, Doc: "take back the last message and edit it"},
		{Name: "copy", Verb: Copy, Args: "[reply|chat]", Choices: []string{"reply", "chat"}, Doc: "copy the last reply or the whole chat"},
		{Name: "new", Aliases: []string{"clear"}, Verb: New, Doc: "start a new chat; the old one stays saved"},
		{Name: "save", Verb: Save, Args: "[title]", Doc: "save the chat now, under a title"},
		{Name: "open", Aliases: []string{"load"}, Verb: Open, Doc: "open a saved chat"},
		{Name: "export", Verb: Export, Args: "file|format [file]", Choices: export.Names(), Doc: "write the chat to a file; the end of its name says how"},
		{Name: "remote", Verb: Remote, Args: "[address [model]|off]", Choices: []string{"off", "127.0.0.1:8080", "127.0.0.1:8000", "127.0.0.1:30000"},
			Meanings: []string{"the target is on this machine", "llama-server, by its usual port", "vLLM", "SGLang, only to watch"}, Doc: "take the target of a server, or the one here again"},
		{Name: "record", Aliases: []string{"trace"}, Verb: Record, Args: "[file|off]", Choices: []string{"off"}, Doc: "record the session from its start, for replay"},
		{Name: "race", Verb: Race, Args: "[A] [vs B]", Doc: "the last prompt twice: without and with speculation, or A vs B"},
		{Name: "demo", Aliases: []string{"tour"}, Verb: Demo, Args: "[file]", Doc: "a tour of five minutes, or the script in a file"},
		{Name: "tradeoff", Verb: Tradeoff, Doc: "the speed of each draft length, or the rounds again"},
		{Name: "present", Verb: Present, Doc: "only what an audience needs, or everything again"},
		{Name: "help", Verb: Help, Doc: "keys and commands"},
		{Name: "quit", Aliases: []string{"exit"}, Verb: Quit, Doc: "save the chat and leave"},
	}
	for _, s := range config.Settings() {
		if s.Slash != "" {
			out = append(out, setting(s))
		}
	}
	return out
}

func setting(s config.Setting) Command {
	c := Command{Name: s.Slash, Args: s.Allowed(), Doc: s.Doc, Verb: Set, Setting: s, Choices: s.Choices}
	for _, other := range []string{s.Flag, strings.ReplaceAll(s.Key(), "_", "-"), s.Key()} {
		if other != c.Name && !slices.Contains(c.Aliases, other) {
			c.Aliases = append(c.Aliases, other)
		}
	}
	switch {
	case s.Name == "speculation.enabled":
		c.Aliases = append(c.Aliases, "spec")
		c.Choices = []string{"on", "off"}
	case s.Name == "speculation.gamma":
		c.Doc = "how many tokens to draft in a round; sets the rule fixed"
	case s.Kind == config.Bool:
		c.Choices = []string{"on", "off"}
	}
	return c
}

// Is reports whether a prompt is a command: a slash, then a word that begins with a letter and has no
// other slash. A path with two slashes is text, and so is a slash alone.
func Is(prompt string) bool {
	name, slash := strings.CutPrefix(prompt, "/")
	name, _, _ = strings.Cut(name, " ")
	if !slash || name == "" || strings.ContainsAny(name, "/\n") {
		return false
	}
	letter := name[0] | 0x20
	return letter >= 'a' && letter <= 'z'
}

// UnknownError says that there is no command of this name.
type UnknownError struct {
	Name    string
	Nearest string // the most similar name; "" if none is similar
}

func (e *UnknownError) Error() string {
	if e.Nearest == "" {
		return fmt.Sprintf("there is no command /%.32s; /temp 0.5 sets a setting; /help lists all", e.Name)
	}
	return fmt.Sprintf("there is no command /%.32s; did you mean /%s?", e.Name, e.Nearest)
}

// Parse parses a prompt for which Is returns true. The error is an *UnknownError.
func Parse(prompt string) (Call, error) {
	name, arg, _ := strings.Cut(strings.TrimPrefix(prompt, "/"), " ")
	name = strings.ToLower(strings.TrimSpace(name))
	var names []string
	for _, c := range Table() {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return Call{Command: c, Arg: strings.TrimSpace(arg)}, nil
		}
		names = append(append(names, c.Name), c.Aliases...)
	}
	return Call{}, &UnknownError{Name: name, Nearest: config.Nearest(name, names)}
}

// Value returns the argument for config.Set. The argument "" (two quotes) means an empty text.
func (c Call) Value() string {
	if c.Arg == `""` {
		return ""
	}
	return c.Arg
}

// Markdown returns the list of verbs for docs/keys.md.
func Markdown() string {
	var sb strings.Builder
	sb.WriteString("| command | what it does |\n|---|---|\n")
	for _, c := range Table() {
		if c.Verb != Set {
			call, does, _ := strings.Cut(c.Usage(), ": ")
			fmt.Fprintf(&sb, "| `%s` | %s |\n", strings.ReplaceAll(call, "|", `\|`), does)
		}
	}
	return sb.String()
}

// Usage describes a command in one line.
func (c Command) Usage() string {
	s := "/" + c.Name
	if c.Args != "" {
		s += " " + c.Args
	}
	return s + ": " + c.Doc
}
