package app_test

import (
	"context"
	"os"
	"testing"
	"time"

	"specula/engine"
	"specula/engine/app"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/exam"
)

// Questions of first-time users to the built-in pair: some may be in its training data, some are not.
// least is how many the pair must answer right. A retrained pair may only raise this number; the aim is all.
func TestThePairAnswersItsVisitors(t *testing.T) {
	c := config.Default()
	c.Device.Device = "cpu"
	a := app.App{Now: time.Now}
	conversation, err := a.Open(t.Context(), c, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	defer conversation.Close()
	for _, part := range []struct {
		file         string
		asked, least int
	}{
		{"visitors.txt", 40, 40},
		{"visitors-unseen.txt", 70, 64},
	} {
		t.Run(part.file, func(t *testing.T) {
			text, err := os.ReadFile("../../assets/" + part.file)
			if err != nil {
				t.Fatal(err)
			}
			paper, err := exam.Read(part.file, string(text))
			if err != nil {
				t.Fatal(err)
			}
			results, err := exam.Take(t.Context(), []exam.Paper{paper}, func(ctx context.Context, said []engine.Message) (string, error) {
				return conversation.Answer(ctx, said, "sampling.temperature", "0")
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := results[0]
			for _, m := range r.Misses {
				t.Logf("%s: %q is answered %q; wanted is %s", m.ID, m.Question, m.Reply, m.Wanted)
			}
			if r.Asked != part.asked || r.Right < part.least {
				t.Errorf("%d of %d answers are right, want at least %d of %d", r.Right, r.Asked, part.least, part.asked)
			}
		})
	}
}
