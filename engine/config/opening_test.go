package config

import "testing"

func TestTheEmbeddedPairOpensToWatch(t *testing.T) {
	none := func(string) bool { return false }
	for _, c := range []struct {
		name   string
		change func(*Config)
		given  string
		opens  bool
	}{
		{"defaults", func(*Config) {}, "", true},
		{"another pace", func(c *Config) { c.UI.Pace = "full" }, "ui.pace", true},
		{"a model of one's own", func(c *Config) { c.Model.Target = "own.gguf" }, "", false},
		{"no draft model", func(c *Config) { c.Model.Draft = "none" }, "", false},
		{"a target on a server", func(c *Config) { c.Remote.URL = "http://h" }, "", false},
		{"a temperature in the file", func(c *Config) { c.Sampling.Temperature = 0 }, "", false},
		{"a proposer in the file", func(c *Config) { c.Speculation.Proposer = "ngram" }, "", false},
		{"a flag with the default", func(*Config) {}, "sampling.temperature", false},
		{"a flag about speculation", func(*Config) {}, "speculation.gamma_rule", false},
	} {
		conf := Default()
		c.change(&conf)
		given := none
		if c.given != "" {
			given = func(name string) bool { return name == c.given }
		}
		if err := conf.OpenToWatch(given); err != nil || conf.OpensToWatch() != c.opens {
			t.Errorf("%s: opens %v, want %v (%v)", c.name, conf.OpensToWatch(), c.opens, err)
		}
	}
}

// The opening fast is what the defaults say, so that the key goes back to them.
func TestTheOpeningFastIsTheDefaults(t *testing.T) {
	c := Default()
	if err := c.SetAll(Opening("watch")...); err != nil || !c.OpensToWatch() {
		t.Fatalf("%v: %+v", err, c.Speculation)
	}
	if err := c.SetAll(Opening("fast")...); err != nil {
		t.Fatal(err)
	}
	d := Default()
	d.Speculation.Gamma = c.Speculation.Gamma // the rule cost-aware chooses it
	for _, v := range append(Opening("watch"), Opening("fast")...) {
		got, _ := c.Get(v.Name)
		if want, _ := d.Get(v.Name); got != want {
			t.Errorf("%s is %s, want %s", v.Name, got, want)
		}
	}
}
