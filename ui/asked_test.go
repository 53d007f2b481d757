package ui

import (
	"testing"

	"specula/engine/event"
)

// The message about a change says when the change takes effect, until it has. A change to the value that
// is in force already makes no event; then these words are removed at the second round at the latest.
func TestTheMessageSaysWhenUntilThen(t *testing.T) {
	s := stepping(t)
	s.press("alt+right")
	s.mustShow("temp 0.8, at the next round")
	s.mustRead("temperature 0.70 ·")
	s.nextDraft()
	s.mustRead("temperature 0.80 ·")
	s.mustShow("temp 0.8 ")
	s.mustNotShow("at the next round")

	s.begin("/temp 0.8")
	s.mustShow("temp 0.8, at the next round")
	s.nextDraft()
	s.nextDraft()
	s.mustNotShow("at the next round")

	s.press("alt+up")
	s.mustShow("γ 5, rule fixed, at the next round")
	s.nextDraft()
	s.mustRead("γ 5 fixed ·")
	s.mustNotShow("at the next round")

	s.begin("/system Be brief.")
	s.m.follow(event.SettingChanged{Name: "sampling.temperature"}) // of another setting
	s.mustShow("system Be brief., at the next reply")
	s.press("f2") // full speed
	s.settle()
	s.ask("again")
	s.mustNotShow("at the next reply")
}

// nextDraft steps until the draft of the next round waits.
func (s *screen) nextDraft() {
	s.t.Helper()
	rounds := s.m.state.Sequence
	s.press("space")
	s.until("the verdict", func() bool { return s.m.state.Pending == nil && s.m.state.Sequence > rounds })
	s.press("esc") // to the present
	s.press("space")
	s.until("the next draft", func() bool { return s.m.state.Pending != nil })
}

// Between replies, the line of settings says that changed settings are for the next reply.
func TestChangedSettingsAreForTheNextReply(t *testing.T) {
	s := open(t, nil)
	s.press("alt+right")
	s.mustNotShow("next reply:") // there is no reply yet
	s.ask("hello")
	s.mustNotShow("next reply:")
	s.press("alt+right")
	s.mustShow("next reply: temperature 0.90 ·")
	s.press("alt+left")
	s.mustNotShow("next reply:")
	s.press("alt+left")
	s.mustShow("next reply: temperature 0.70 ·")
	s.ask("again")
	s.mustNotShow("next reply:")
}
