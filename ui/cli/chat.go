package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/pflag"

	"specula/engine"
	"specula/ui"
	"specula/ui/command"
)

type chatFlags struct {
	prompt string // sent first; "" for none
	plain  bool
	trace  traceFlags
}

func (o *chatFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&o.plain, "plain", false, "chat line by line, without a screen (for screen readers and simple terminals)")
	o.trace.add(flags)
}

// chat opens the screen, unless --plain is given or the terminal cannot show it. Without the screen, it
// answers the given prompt. Without a prompt, stdin is the prompt if it is no terminal and --plain is
// not given; else chat reads messages from stdin line by line.
func (a *invocation) chat(ctx context.Context, o chatFlags) error {
	t := a.Terminal
	onScreen := !o.plain && a.onScreen()
	if !onScreen && (o.prompt != "" || !t.StdinTTY && !o.plain) {
		return a.run(ctx, runFlags{prompt: o.prompt, plain: o.plain, trace: o.trace})
	}
	c, _, err := a.settings()
	if err != nil {
		return err
	}
	if onScreen {
		if c.UI.Opening == "watch" {
			if err := c.OpenToWatch(a.overrides.given); err != nil {
				return err
			}
		}
		return a.screen(ctx, c, o)
	}
	out, err := a.newOutput(c, runFlags{trace: o.trace})
	if err != nil {
		return err
	}
	session, err := a.open(ctx, c, out.put)
	if err != nil {
		return errors.Join(a.classify(err), out.close())
	}
	defer session.Close()
	l := lines{app: a, session: session, out: out, in: bufio.NewReaderSize(t.Stdin, 64<<10)}
	return errors.Join(l.loop(ctx), out.close())
}

// lines is a chat without a screen: it reads a line and prints a reply.
type lines struct {
	app      *invocation
	session  ui.Engine
	out      *output
	in       *bufio.Reader
	messages []engine.Message
}

func (l *lines) loop(ctx context.Context) error {
	l.app.say("Write a message, or /quit. Settings change by commands such as /temp 0.5.")
	for {
		fmt.Fprint(l.app.Terminal.Stderr, "> ")
		line, err := l.read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case line == "":
		case command.Is(line):
			if quit := l.command(line); quit {
				return nil
			}
		default:
			if err := l.reply(ctx, line); err != nil {
				return err
			}
		}
	}
}

// read returns the next line, trimmed. io.EOF comes after the last one.
func (l *lines) read() (string, error) {
	var line strings.Builder
	for {
		part, err := l.in.ReadSlice('\n')
		if line.Len()+len(part) > maxPromptBytes {
			return "", usagef("a message is longer than %d bytes", maxPromptBytes)
		}
		line.Write(part)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && line.Len() > 0:
		case err != nil:
			return "", err
		}
		return strings.TrimSpace(line.String()), nil
	}
}

// reply answers one message. An interrupt stops the reply, but not the chat; the text so far is kept.
// After an error of the engine, reply reports it and drops the message. It returns only errors of the
// output.
func (l *lines) reply(ctx context.Context, text string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	messages := append(l.messages, engine.Message{Role: "user", Content: text})
	answer, err := l.out.reply(ctx, l.session, messages)
	if l.out.err != nil {
		return l.out.err
	}
	if err != nil {
		// The chat goes on without the message that failed.
		report(l.app.Terminal.Stderr, err, true, "")
		return nil
	}
	l.messages = append(messages, engine.Message{Role: "assistant", Content: answer})
	return nil
}

// command executes a slash command and reports whether it ends the chat.
func (l *lines) command(line string) (quit bool) {
	call, err := command.Parse(line)
	if err != nil {
		l.app.say("%v", err)
		return false
	}
	switch call.Command.Verb {
	case command.Quit:
		return true
	case command.New:
		l.messages = nil
	case command.Set:
		l.set(call)
	case command.Help:
		l.help()
	default:
		l.app.say("/%s needs the screen (start without --plain)", call.Command.Name)
	}
	return false
}

// help lists the commands that work without a screen.
func (l *lines) help() {
	var settings []string
	for _, c := range command.Table() {
		if c.Verb == command.Set {
			settings = append(settings, "/"+c.Name)
		}
	}
	l.app.say("/new starts a new chat, /quit leaves. A setting shows its value, and changes with a value after it: %s", strings.Join(settings, " "))
}

// set changes a setting. Without a value it shows the setting.
func (l *lines) set(call command.Call) {
	name := call.Command.Setting.Name
	if call.Arg != "" {
		if err := l.session.Change(name, call.Arg); err != nil {
			l.app.say("%v", err)
			return
		}
	}
	c := l.session.Settings()
	value, err := c.Get(name)
	if err != nil {
		l.app.say("%v", err)
		return
	}
	if name == "speculation.gamma" && call.Arg != "" {
		value += ", rule " + c.Speculation.Rule
	}
	l.app.say("%s = %s", name, value)
}
