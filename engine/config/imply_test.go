package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestNamingGammaFixesTheRule(t *testing.T) {
	type want struct {
		rule            string
		gamma, gammaMax int
		note            bool
	}
	for _, tt := range []struct {
		name   string
		values []Value
		want   want
	}{
		{"nothing", nil, want{"cost-aware", 4, 8, false}},
		{"the default γ, named", []Value{{"gamma", "4"}}, want{"fixed", 4, 8, false}},
		{"γ 0", []Value{{"speculation.gamma", "0"}}, want{"fixed", 0, 8, false}},
		{"with its rule", []Value{{"gamma", "6"}, {"gamma-rule", "fixed"}}, want{"fixed", 6, 8, false}},
		{"windowed", []Value{{"rule", "windowed"}, {"gamma", "6"}}, want{"windowed", 6, 8, false}},
		{"ceiling", []Value{{"gamma", "3"}, {"rule", "cost-aware"}}, want{"cost-aware", 3, 3, true}},
		{"ceiling above the default", []Value{{"gamma", "12"}, {"rule", "cost-aware"}}, want{"cost-aware", 12, 12, true}},
		{"two ceilings", []Value{{"gamma", "3"}, {"gamma-max", "6"}, {"rule", "cost-aware"}}, want{"cost-aware", 3, 3, true}},
		{"the last rule counts", []Value{{"rule", "cost-aware"}, {"gamma", "3"}, {"rule", "fixed"}}, want{"fixed", 3, 8, false}},
		{"a low ceiling", []Value{{"gamma-max", "2"}}, want{"cost-aware", 2, 2, false}},
		{"the rule alone", []Value{{"rule", "cost-aware"}, {"gamma-max", "6"}}, want{"cost-aware", 4, 6, false}},
	} {
		c := Default()
		values, note, err := Imply(tt.values)
		if err == nil {
			err = c.SetAll(values...)
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		s := c.Speculation
		if got := (want{s.Rule, s.Gamma, s.GammaMax, note != ""}); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
		// A file with the same values means the same.
		var text strings.Builder
		text.WriteString("[speculation]\n")
		for _, v := range tt.values {
			setting, _ := Lookup(v.Name)
			value := v.Text
			if setting.Kind == Choice {
				value = `"` + value + `"`
			}
			if tt.name != "the last rule counts" { // a file names a setting once
				text.WriteString(setting.Key() + " = " + value + "\n")
			}
		}
		if tt.name == "the last rule counts" {
			continue
		}
		d, inFile, err := Decode("f", []byte(text.String()))
		if err != nil || !reflect.DeepEqual(c, d) || inFile != note {
			t.Errorf("%s, in a file: %v, note %q\ngot  %+v\nwant %+v", tt.name, err, inFile, d.Speculation, c.Speculation)
		}
	}
}

func TestImplyRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"gamma = 0\ngamma_rule = \"cost-aware\"":                "f:2: speculation.gamma cannot be 0: allowed is from 1 on with the rule cost-aware",
		"gamma = 6\ngamma_max = 4\ngamma_rule = \"cost-aware\"": "f:2: speculation.gamma cannot be 6: allowed is at most speculation.gamma_max, which is 4",
	} {
		if _, _, err := Decode("f", []byte("[speculation]\n"+text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
