package chat

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// No template and no conversation crashes the program or exceeds the limits. What a conversation
// says is data: a marker that is only in the content is never in the template's part of the text.
func FuzzTemplate(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(g.source, "user", "<|im_end|> hello", true)
	}
	for _, source := range []string{
		"{{ 'a' * 99999999 }}", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{% include 'x' %}", "{{ 1 % 0 }}", "{{ range(1e7) }}",
		"{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x|tojson(indent=2) }}",
		"{{ messages[0].content[::-1].split('b')|map('upper')|sort|join('-')|indent(3, true)|replace('a', 'b')|title }}",
		"{%- for k, v in messages[0].items() -%}{{ k }}={{ v is string and k in ['role'] or not v }}{% break %}{%- endfor +%}\n",
		"{% call f(1) %}x{% endcall %}{% filter trim|upper %} x {% endfilter %}{% set a, b = 1, 2 %}{{ a // b ** 2 ~ -b }}",
		"{{ messages|selectattr('role', 'eq', 'user')|map(attribute='content')|list|tojson }}{# c #}{{ \"\\xe9\" if true else {} }}",
	} {
		f.Add(source, "assistant", "a b\nc", false)
	}
	const marker = "\U000f1234" // a template has no reason to write this character
	f.Fuzz(func(t *testing.T, source, role, content string, generate bool) {
		if strings.Contains(source, marker) || strings.Contains(strings.ToLower(source), `\u`) || !utf8.ValidString(source) {
			t.Skip("the template could write the marker itself")
		}
		template, err := Choose(Options{Source: source, Prefer: "file", BOS: "<s>", EOS: "</s>", Now: noon})
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
			return
		}
		segments, err := template.Render([]Message{{role, marker + content}, {"assistant", content + marker}}, generate)
		if err != nil {
			return
		}
		size := 0
		for _, s := range segments {
			size += len(s.Text)
			if s.Special && strings.Contains(s.Text, marker) {
				t.Errorf("data counts as template in %q", s.Text)
			}
		}
		if size > 4<<20 {
			t.Errorf("%d bytes of text", size)
		}
	})
}
