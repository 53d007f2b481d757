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

// rightForVisitors is how many of the forty the pair in the program answers right. A retrained pair may
// only raise it; the aim is all of them.
const rightForVisitors = 32

// What a first visitor says to the built-in pair.
func TestThePairAnswersItsVisitors(t *testing.T) {
	text, err := os.ReadFile("../../assets/visitors.txt")
	if err != nil {
		t.Fatal(err)
	}
	paper, err := exam.Read("visitors", string(text))
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Device.Device = "cpu"
	a := app.App{Now: time.Now}
	conversation, err := a.Open(t.Context(), c, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	defer conversation.Close()
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
	if r.Asked != 40 || r.Right < rightForVisitors {
		t.Errorf("%d of %d answers are right, want at least %d of 40", r.Right, r.Asked, rightForVisitors)
	}
}
