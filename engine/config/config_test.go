package config

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// Users read the file at the root of the repository; the program uses the table.
func defaultFile(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDefaultFileGivesEverySetting(t *testing.T) {
	c, given, err := decode("config.toml", defaultFile(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range table {
		if given[s.Name] == 0 && s.Name != "speculation.gamma" { // naming it would change the rule
			t.Errorf("%s is missing", s.Name)
		}
	}
	if !reflect.DeepEqual(c, Default()) {
		t.Errorf("the file and the table differ:\nfile  %+v\ntable %+v", c, Default())
	}
}

func TestDefaultFileDocumentsEverySetting(t *testing.T) {
	// The file has γ in a comment, because naming γ would change the rule.
	text := strings.Replace(string(defaultFile(t)), "\n#gamma = 4\n", "\ngamma = 4\n", 1)
	lines := strings.Split(text, "\n")
	c, given, err := decode("config.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if given["speculation.gamma"] == 0 || !reflect.DeepEqual(c, Default()) {
		t.Errorf("the comment %q is missing, or is not the default", "#gamma = 4")
	}
	for _, s := range table {
		var doc string
		for i := given[s.Name] - 2; i >= 0 && strings.HasPrefix(lines[i], "#"); i-- {
			doc = lines[i] + " " + doc
		}
		if !regexp.MustCompile(`--` + s.Flag + `\b`).MatchString(doc) {
			t.Errorf("the comment above %s does not name --%s: %q", s.Name, s.Flag, doc)
		}
		if s.Slash != "" && !regexp.MustCompile(`/`+s.Slash+`\b`).MatchString(doc) {
			t.Errorf("the comment above %s does not name /%s: %q", s.Name, s.Slash, doc)
		}
		for _, choice := range s.Choices {
			if !strings.Contains(doc, choice) {
				t.Errorf("the comment above %s does not explain %s", s.Name, choice)
			}
		}
	}
}

// Exactly one row leads to each field, so no part of a Config is missing from the table.
func TestTableCoversConfig(t *testing.T) {
	var c Config
	seen := map[any]string{}
	for _, s := range table {
		p := s.field(&c)
		if other, ok := seen[p]; ok {
			t.Errorf("%s and %s are the same field", s.Name, other)
		}
		seen[p] = s.Name
	}
	fields := 0
	root := reflect.ValueOf(&c).Elem()
	for i := range root.NumField() {
		section := root.Field(i)
		for j := range section.NumField() {
			fields++
			if _, ok := seen[section.Field(j).Addr().Interface()]; !ok {
				t.Errorf("no setting for %s.%s", root.Type().Field(i).Name, section.Type().Field(j).Name)
			}
		}
	}
	if fields != len(table) {
		t.Errorf("%d fields, %d settings", fields, len(table))
	}
}

func TestTableIsConsistent(t *testing.T) {
	used := map[string]string{}
	for _, s := range table {
		for _, name := range []string{s.Name, s.Flag, "/" + s.Slash} {
			if name == "/" {
				continue
			}
			if other, ok := used[name]; ok {
				t.Errorf("%s and %s share the name %s", s.Name, other, name)
			}
			used[name] = s.Name
		}
		if s.Doc == "" || strings.HasSuffix(s.Doc, ".") {
			t.Errorf("%s: a doc is one line without a full stop, got %q", s.Name, s.Doc)
		}
		if (s.Kind == Choice) != (len(s.Choices) > 0) {
			t.Errorf("%s: choices belong to the kind Choice", s.Name)
		}
		if (s.Applies == NextStart) != (s.Slash == "") && s.Name != "sampling.stop" {
			t.Errorf("%s applies %s but has the slash command %q", s.Name, s.Applies, s.Slash)
		}
	}
}

func TestSetAndGet(t *testing.T) {
	tests := []struct{ name, value, full, want string }{
		{"temp", "0.8", "sampling.temperature", "0.8"},
		{"temperature", "1", "sampling.temperature", "1"},
		{"top-k", "40", "sampling.top_k", "40"},
		{"sampling.seed", "42", "seed", "42"},
		{"gamma", "8", "speculation.gamma", "8"},
		{"speculate", "off", "speculation.enabled", "false"},
		{"rule", "fixed", "gamma-rule", "fixed"},
		{"stop", "END", "sampling.stop", `["END"]`},
		{"stop", "", "sampling.stop", "[]"},
		{"stop", `["a<b", "c"]`, "sampling.stop", `["a<b","c"]`},
		{"device", "cuda:1", "device.device", "cuda:1"},
		{"proposer", "ngram+suffix+mtp", "speculation.proposer", "ngram,suffix,mtp"},
	}
	for _, tt := range tests {
		c := Default()
		if err := c.Set(tt.name, tt.value); err != nil {
			t.Errorf("%s=%s: %v", tt.name, tt.value, err)
			continue
		}
		if got, err := c.Get(tt.full); err != nil || got != tt.want {
			t.Errorf("%s=%s: %s is %q (%v), want %q", tt.name, tt.value, tt.full, got, err, tt.want)
		}
	}
}

func TestGetIsWhatSetTakes(t *testing.T) {
	c := Default()
	c.Sampling.Stop = []string{"\"", "\n"}
	for _, s := range table {
		var other Config
		text, err := c.Get(s.Name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.parse(text)
		if err == nil {
			err = s.assign(&other, v)
		}
		if err != nil || s.format(&other) != text {
			t.Errorf("%s: %q came back as %q (%v)", s.Name, text, s.format(&other), err)
		}
	}
}

func TestSetRefusesAndChangesNothing(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"temp", "hot", `sampling.temperature cannot be "hot"`},
		{"temp", "NaN", `sampling.temperature cannot be NaN`},
		{"temp", "-0.1", `sampling.temperature cannot be -0.1`},
		{"gamma", "9", "at most speculation.gamma_max, which is 8"},
		{"gamma", "4.5", `speculation.gamma cannot be "4.5"`},
		{"seed", "9223372036854775808", "sampling.seed cannot be"},
		{"schema", `{"properties":{"age":{"multipleOf":2}}}`, "constraint.schema: the JSON schema: #/properties/age/multipleOf: this keyword is not supported"},
		{"schema", "@/absent.json", "constraint.schema: reading the file after @: stat /absent.json: no such file"},
		{"schema", "@/", `"/" is not a regular file`},
		{"regex", "a(", "constraint.regex: the regular expression: missing closing )"},
		{"grammar", "root ::= x", `constraint.grammar: the grammar uses the rule "x", which it does not define`},
		{"proposer", "draft,ngram", "in which all but the last are of ngram, suffix"},
		{"proposer", "suffix,suffix", `speculation.proposer cannot be "suffix,suffix"`},
		{"proposer", "ngram,auto", `speculation.proposer cannot be "ngram,auto"`},
		{"proposer", "suffix,", `speculation.proposer cannot be "suffix,"`},
		{"tempp", "1", `there is no setting "tempp"; did you mean temp?`},
		{"", "1", `there is no setting ""`},
	}
	for _, tt := range tests {
		c := Default()
		err := c.Set(tt.name, tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s=%s: got %v, want %s", tt.name, tt.value, err, tt.want)
		}
		if !reflect.DeepEqual(c, Default()) {
			t.Errorf("%s=%s changed something", tt.name, tt.value)
		}
	}
}

func TestAReplyHasOneForm(t *testing.T) {
	c := Default()
	if err := c.Set("schema", "any"); err != nil {
		t.Fatal(err)
	}
	if err := c.Set("choices", "yes"); err == nil || !strings.Contains(err.Error(), "a reply can have one form, and constraint.schema gives it another") {
		t.Errorf("choices beside a schema: error %v, want that a reply can have one form", err)
	}
	if err := c.SetAll(Value{"schema", ""}, Value{"choices", "yes"}); err != nil {
		t.Errorf("choices in place of a schema: %v", err)
	}
	if _, _, err := Decode("c.toml", []byte("[constraint]\nschema = \"any\"\nregex = \"a+\"\n")); err == nil || !strings.Contains(err.Error(), "c.toml:3: constraint.regex") {
		t.Errorf("a file with two forms: error %v, want c.toml:3: constraint.regex", err)
	}
}

func TestSetAllTakesDependentValuesInAnyOrder(t *testing.T) {
	c := Default()
	if err := c.SetAll(Value{"gamma", "12"}, Value{"gamma-max", "16"}); err != nil {
		t.Fatal(err)
	}
	if c.Speculation.Gamma != 12 || c.Speculation.GammaMax != 16 {
		t.Errorf("got %+v", c.Speculation)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	for _, s := range Settings() {
		if s.Kind != List {
			continue
		}
		a := Default()
		own := s.field(&a).(*[]string)
		*own = []string{"x"}
		b := a.Clone()
		(*s.field(&b).(*[]string))[0] = "y"
		if (*own)[0] != "x" {
			t.Errorf("the clone shares the list of %s: add it to Clone in engine/config/change.go", s.Name)
		}
	}
}

func TestSearchFindsTheConfiguration(t *testing.T) {
	home := t.TempDir()
	own := filepath.Join(home, "specula", "config.toml")
	env := func(v string) func(string) string { return func(string) string { return v } }
	check := func(name, flag, fromEnv, want string) {
		t.Helper()
		if got := Search(flag, env(fromEnv), home); got.Path != want || got.Missed != "" {
			t.Errorf("%s: got %+v, want %q", name, got, want)
		}
	}
	check("nothing", "", "", "")
	if err := os.Mkdir(filepath.Dir(own), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("[ui]\nmouse = true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	check("the user's own", "", "", own)
	check("environment over own", "", "e.toml", "e.toml")
	check("flag over environment", "f.toml", "e.toml", "f.toml")

	if got := Search("", env(""), own); got.Path != "" || !strings.Contains(got.Missed, "built-in") {
		t.Errorf("with a file in place of the folder: %+v, want the built-in settings and a notice", got)
	}
	if got := Search("", env(""), ""); got.Path != "" || got.Missed != "" {
		t.Errorf("without a folder: %+v", got)
	}

	c, _, err := Load(Source{Path: own})
	if err != nil || !c.UI.Mouse {
		t.Errorf("loading: %v, mouse %v", err, c.UI.Mouse)
	}
	for _, path := range []string{filepath.Join(home, "absent.toml"), home} {
		if _, _, err := Load(Source{Path: path, Why: "--config"}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("loading %s: %v", path, err)
		}
	}
}

func TestLoadExpandsHome(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	path := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(path, []byte("[model]\ntarget = \"~/m.gguf\"\ndraft = \"~x\"\n[remote]\nca = \"~/ca\"\nkey = \"@~/key\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, _, err := Load(Source{Path: path})
	if err != nil || c.Model.Target != "/home/ada/m.gguf" || c.Model.Draft != "~x" || c.Remote.CA != "/home/ada/ca" || c.Remote.Key != "@/home/ada/key" {
		t.Errorf("got %+v, %+v (%v)", c.Model, c.Remote, err)
	}
}

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"gama", "gamma", 1}, {"kitten", "sitting", 3}, {"same", "same", 0}, {"tmep", "temp", 1}, {"abc", "ca", 3}} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q to %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func FuzzConfig(f *testing.F) {
	data, err := os.ReadFile("../../config.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	for _, s := range []string{"", "[sampling]\ntemperature = nan", "a.b.c.d = 1", "[[ui]]", "s = {x = {y = [1, {z = 2}]}}",
		"[ui]\nmouse.x = 1", "\"\" = 1", "[sampling]\nseed = 0x7fffffffffffffff", "x = 1979-05-27T07:32:00Z", strings.Repeat("[", 300)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := Decode("f", data)
		if err != nil {
			if !reflect.DeepEqual(c, Default()) {
				t.Fatal("half a configuration came back with an error")
			}
			return
		}
		for _, s := range table {
			var again Config
			v, err := s.parse(s.format(&c))
			if err == nil && s.Kind == Text {
				v = s.format(&c)
			}
			if err == nil {
				err = s.assign(&again, v)
			}
			if err != nil {
				t.Fatalf("accepted a value of %s that cannot be set: %v", s.Name, err)
			}
		}
		if math.IsNaN(c.Sampling.Temperature) || c.Speculation.Gamma > c.Speculation.GammaMax {
			t.Fatalf("accepted %+v", c)
		}
	})
}

func TestARecipeMakesTheSettingsAgain(t *testing.T) {
	c := Default()
	if got := c.Recipe(); len(got) != 0 {
		t.Errorf("the recipe of the defaults is %v", got)
	}
	if err := c.SetAll(Value{"temperature", "0.9"}, Value{"stop", "END"}, Value{"gamma-max", "32"}, Value{"gamma", "12"}, Value{"rule", "fixed"}, Value{"theme", "dark"}); err != nil {
		t.Fatal(err)
	}
	again := Default()
	var values []Value
	for name, text := range c.Recipe() {
		values = append(values, Value{name, text})
	}
	err := again.SetAll(values...)
	c.UI = Default().UI
	if err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("made again: %+v (%v), want %+v", again, err, c)
	}
}
