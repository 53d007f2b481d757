package jinja

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 9, 7, 13, 5, 9, 0, time.UTC)

func clock() time.Time { return noon }

// decode reads JSON into values. Strings become data.
func decode(t *testing.T, d *json.Decoder) Value {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch v := token.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return int(i)
		}
		f, _ := v.Float64()
		return f
	case string:
		return Data(v)
	case json.Delim:
		if v == '[' {
			list := &List{}
			for d.More() {
				list.items = append(list.items, decode(t, d))
			}
			_, _ = d.Token()
			return list
		}
		dict := &Dict{}
		for d.More() {
			dict.Set(decode(t, d).(Text), decode(t, d))
		}
		_, _ = d.Token()
		return dict
	case bool:
		return v
	}
	return nil
}

// gaps are constructs that Jinja runs and this package does not. Each must be refused, never
// rendered differently. The last ones print an object of Python.
var gaps = []string{
	"{% block a %}b{% endblock %}",
	"{% raw %}x{% endraw %}",
	"{{ d.items }}", "{{ d.items() }}", "{{ range(3) }}", "{{ s.upper }}",
}

// The results of Jinja itself; see testdata/README.md.
func TestTemplatesRenderAsInJinja(t *testing.T) {
	raw, err := os.ReadFile("testdata/semantics.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Variables json.RawMessage
		Cases     []struct {
			Template string
			Text     *string
			Error    string
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	variables := variables(t, file.Variables)
	for _, c := range file.Cases {
		t.Run(c.Template, func(t *testing.T) {
			got, err := render(c.Template, variables)
			switch {
			case slices.Contains(gaps, c.Template):
				if err == nil {
					t.Errorf("rendered %q; a gap must be refused", got)
				}
			case c.Text == nil && err == nil:
				t.Errorf("rendered %q; Jinja says %s", got, c.Error)
			case c.Text != nil && err != nil:
				t.Errorf("error %v; Jinja renders %q", err, *c.Text)
			case c.Text != nil && got.s != *c.Text:
				t.Errorf("got  %q\nwant %q", got.s, *c.Text)
			}
		})
	}
}

func render(source string, variables map[string]Value) (Text, error) {
	template, err := Parse(source)
	if err != nil {
		return Text{}, err
	}
	return template.Render(variables, clock)
}
