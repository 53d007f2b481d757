package config

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestDecodeOverridesOnlyWhatIsGiven(t *testing.T) {
	c, _, err := Decode("f.toml", []byte("[sampling]\ntemperature = 0\nstop = [\"\\n\"]\n[speculation]\ngamma_max = 16\ngamma = 12\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Sampling.Temperature, want.Sampling.Stop = 0, []string{"\n"}
	want.Speculation.Gamma, want.Speculation.GammaMax, want.Speculation.Rule = 12, 16, "fixed"
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v\nwant %+v", c, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"unknown key", "[speculation]\n\ngama = 3", `f.toml:3: there is no setting "speculation.gama"; did you mean speculation.gamma?`},
		{"unknown key with nothing near", "[ui]\nwallpaper = 1", `f.toml:2: there is no setting "ui.wallpaper"; 'specula config' prints all`},
		{"unknown key outside of a section", "gama = 3", `f.toml:1: there is no setting "gama"; did you mean gamma in the section [speculation]?`},
		{"unknown section", "[samplin]\ntemperature = 1", `f.toml:1: there is no setting "samplin"; did you mean [sampling]?`},
		{"implied unknown section", "\n[x.y]\nz = 1", `f.toml:2: there is no setting "x"; 'specula config' prints all`},
		{"key without section", "temperature = 1", `f.toml:1: temperature belongs in the section [sampling]`},
		{"section that is no table", "sampling = 1", `f.toml:1: sampling must be a table: write [sampling] on a line of its own`},
		{"array of sections", "[[sampling]]\ntemperature = 1", `f.toml:1: sampling must be a table`},
		{"other case", "[sampling]\nTemperature = 1", `f.toml:2: there is no setting "sampling.Temperature"; did you mean sampling.temperature?`},
		{"other case of a section", "[Sampling]\ntemperature = 1", `f.toml:1: there is no setting "Sampling"; did you mean [sampling]?`},
		{"field name of the struct", "[speculation]\nWindowSize = 1", `f.toml:2: there is no setting "speculation.WindowSize"`},
		{"wrong type", "[sampling]\ntemperature = \"hot\"", `f.toml:2: sampling.temperature cannot be "hot": allowed is a number from 0 to 5`},
		{"number for text", "[model]\ntarget = 3", `f.toml:2: model.target cannot be 3: allowed is text`},
		{"float for integer", "[speculation]\ngamma = 4.0", `f.toml:2: speculation.gamma cannot be 4.0: allowed is an integer from 0 to 32`},
		{"text for bool", "[ui]\nmouse = \"yes\"", `f.toml:2: ui.mouse cannot be "yes": allowed is true or false`},
		{"table for a value", "[ui.mouse]\non = true", `f.toml:1: ui.mouse cannot be a table: allowed is true or false`},
		{"dotted below a value", "[ui]\nmouse.on = true", `f.toml:2: ui.mouse cannot be a table: allowed is true or false`},
		{"temperature below range", "[sampling]\ntemperature = -1", `f.toml:2: sampling.temperature cannot be -1`},
		{"nan", "[sampling]\ntemperature = nan", `f.toml:2: sampling.temperature cannot be NaN`},
		{"infinity", "[sampling]\ntemperature = inf", `f.toml:2: sampling.temperature cannot be +Inf`},
		{"top_p above 1", "[sampling]\ntop_p = 2", `f.toml:2: sampling.top_p cannot be 2`},
		{"top_p 0", "[sampling]\ntop_p = 0.0", `f.toml:2: sampling.top_p cannot be 0.0: allowed is a number above 0, at most 1`},
		{"min_p 1", "[sampling]\nmin_p = 1.0", `f.toml:2: sampling.min_p cannot be 1.0: allowed is a number from 0 to below 1`},
		{"max_tokens 0", "[sampling]\nmax_tokens = 0", `f.toml:2: sampling.max_tokens cannot be 0: allowed is an integer from 1 to 1000000`},
		{"negative context", "[context]\nlength = -5", `f.toml:2: context.length cannot be -5`},
		{"gamma 1000", "[speculation]\ngamma = 1000", `f.toml:2: speculation.gamma cannot be 1000`},
		{"gamma above gamma_max", "[speculation]\n\ngamma = 12", `f.toml:3: speculation.gamma cannot be 12: allowed is at most speculation.gamma_max, which is 8`},
		{"window upside down", "[speculation]\nwindow_low = 0.9", `f.toml:2: speculation.window_low cannot be 0.9`},
		{"unknown choice", "[speculation]\nproposer = \"oracle\"", `f.toml:2: speculation.proposer cannot be "oracle": allowed is one of auto, draft, ngram`},
		{"device", "[device]\ndevice = \"gpu\"", `f.toml:2: device.device cannot be "gpu": allowed is auto, cpu, cuda or cuda:N`},
		{"zero byte", "[model]\ntarget = \"a\\u0000b\"", `f.toml:2: model.target cannot be "a\x00b": allowed is text without a zero byte`},
		{"too many stops", "[sampling]\nstop = [" + strings.Repeat(`"a",`, 65) + "]", `f.toml:2: sampling.stop cannot be a list of 65: allowed is at most 64 texts`},
		{"empty stop", "[sampling]\nstop = [\"\"]", `f.toml:2: sampling.stop cannot be "": allowed is texts of 1 to 256 bytes`},
		{"number among stops", "[sampling]\nstop = [1]", `f.toml:2: sampling.stop cannot be 1`},
		{"no TOML", "[sampling", `f.toml:1: `},
		{"twice the same", "[ui]\nmouse = true\nmouse = false", `f.toml:3: `},
		{"name of many parts", "[ui]\n" + strings.Repeat("a . \"b\".", 6000) + "c = 1", `f.toml: a name in it has 12001 parts; a setting has two`},
		{"name of many parts after a text that ends in four quotes", "[model]\nsystem = \"\"\"a\"\"\"\"\n" + strings.Repeat("a.", 100) + "b = 1", `f.toml: a name in it has 101 parts`},
		{"table of many parts", "[" + strings.Repeat("a.", 100) + "b]", `f.toml: a name in it has 101 parts`},
		{"too large", "#" + strings.Repeat("x", MaxBytes), `f.toml: the file has 65537 bytes; a configuration has at most 65536`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _, err := Decode("f.toml", []byte(tt.in))
			if err == nil {
				t.Fatalf("accepted: %+v", c)
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if !reflect.DeepEqual(c, Default()) {
				t.Error("half a configuration came back")
			}
			var fileError *FileError
			if !errors.As(err, &fileError) {
				t.Errorf("%T is no *FileError", err)
			}
		})
	}
}

func TestDotsInTextsAreNoNames(t *testing.T) {
	dots := strings.Repeat(". ", 100)
	for _, value := range []string{
		`"` + dots + `\" ` + dots + `"`, `'` + dots + `'`, `"""he said "` + dots + `"""`, `"x" # it's ` + dots, "'''it's \n" + dots + "'''",
		`"""` + dots + `"""""`, "''''" + dots + "''''",
	} {
		if _, _, err := Decode("f.toml", []byte("[model]\nsystem = "+value+"\n")); err != nil {
			t.Errorf("%.40s…: %v", value, err)
		}
	}
}

func TestDecodeReportsAllMistakesInOrder(t *testing.T) {
	_, _, err := Decode("f", []byte("[ui]\nmouse = 3\nx = 1\n[sampling]\ntop_p = 7\n"))
	if err == nil {
		t.Fatal("accepted")
	}
	want := []string{"f:2: ui.mouse", "f:3: there is no setting", "f:5: sampling.top_p"}
	got := strings.Split(err.Error(), "\n")
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("line %d: got %q, want %q…", i, got[i], want[i])
		}
	}
}
