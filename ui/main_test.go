package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"specula/engine/config"
	"specula/engine/event"
	"specula/ui/chats"
)

// helperVariable turns the test binary into a program that shows the screen with a scripted engine.
// Tests run it in a terminal, and so can you: SPECULA_SCREEN='rounds=200' ./ui.test
const helperVariable = "SPECULA_SCREEN"

// builtDir is the folder in which the whole program was built; "" if no test built it.
var builtDir string

func TestMain(m *testing.M) {
	if script, ok := os.LookupEnv(helperVariable); ok {
		os.Exit(screenHelper(script))
	}
	code := m.Run()
	_ = os.RemoveAll(builtDir)
	os.Exit(code)
}

// screenHelper runs the screen with the options of a script: "rounds=40 panic=12 chats=DIR pace=full
// theme=light".
func screenHelper(script string) int {
	c := config.Default()
	o := Options{stopTime: patience}
	rounds, panicAt := 40, 0
	for _, field := range strings.Fields(script) {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "rounds":
			rounds, _ = strconv.Atoi(value)
		case "panic":
			panicAt, _ = strconv.Atoi(value)
		case "hang":
			o.grace = 100 * time.Millisecond
			o.Now = hanging()
		case "chats":
			o.Chats = chats.NewStore(value)
		default:
			if err := c.Set(name, value); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 2
			}
		}
	}
	o.Config = c
	o.Load = func(_ context.Context, emit func(event.Event)) (Engine, error) {
		s := newScripted(c, rounds)
		s.panicAt = panicAt
		emit(event.Loading{What: "target", Name: "demo-target", DoneBytes: 1, TotalBytes: 1})
		emit(s.ready())
		return s, nil
	}
	err := Run(context.Background(), o)
	var signaled *SignalError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &signaled):
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	fmt.Fprintln(os.Stderr, "failed:", err)
	return 1
}

// hanging is a clock whose second reading never returns, so that the screen hangs in an update.
func hanging() func() time.Time {
	asked := 0
	return func() time.Time {
		if asked++; asked > 1 {
			select {}
		}
		return time.Unix(0, 0)
	}
}
