package config

import (
	"reflect"
	"testing"

	"specula/engine/event"
)

// A field that is not in the list would be shown as zero.
func TestEveryFieldOfEventSettingsIsShown(t *testing.T) {
	var s event.Settings
	listed := map[any]string{}
	for name, at := range shown(&s) {
		if _, ok := Lookup(name); !ok {
			t.Errorf("there is no setting %s", name)
		}
		listed[at] = name
	}
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if listed[v.Field(i).Addr().Interface()] == "" && name != "AutoProposer" { // which is no setting
			t.Errorf("event.Settings.%s is not in shown (engine/config/shown.go)", name)
		}
	}
}

func TestShownSettingsFollowChanges(t *testing.T) {
	c := Default()
	s := c.Shown(7)
	for _, to := range [][2]string{{"gamma", "3"}, {"/temp", "9"}, {"temp", "0.5"}, {"sampling.top_k", "x"}, {"top-k", "40"}, {"speculate", "off"}, {"rule", "fixed"}, {"seed", "8"}, {"theme", "mono"}} {
		SetShown(&s, to[0], to[1])
	}
	c.Speculation.Gamma, c.Sampling.Temperature, c.Sampling.TopK, c.Speculation.Enabled, c.Speculation.Rule = 3, 0.5, 40, false, "fixed"
	if want := c.Shown(8); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}

// Without a server there is nothing to watch, so no pane may say that its rounds are a server's.
func TestOnlyAServerIsWatched(t *testing.T) {
	c := Default()
	c.Remote.Watch = true
	if c.Shown(1).Watch {
		t.Error("watched without a server")
	}
	if c.Remote.URL = "http://far:8080"; !c.Shown(1).Watch {
		t.Error("not watched with one")
	}
}
