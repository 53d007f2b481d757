package jinja

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// hostile are templates that, in an interpreter without limits, crash or hang the process, read
// files or exhaust memory, and others that are broken or ask for what this package leaves out. want
// is a part of the refusal.
var hostile = []struct{ name, source, want string }{
	{"include", "{% include '/etc/passwd' %}", "another file"},
	{"extends", "{% extends '/etc/passwd' %}", "another file"},
	{"import", "{% import '/etc/passwd' as p %}", "another file"},
	{"from import", "{% from '/etc/passwd' import p %}", "another file"},
	{"include in a dead branch", "{% if false %}{% include '/etc/passwd' %}{% endif %}", "another file"},
	{"python internals", "{{ ''.__class__.__mro__[1].__subclasses__() }}", "undefined"},
	{"environment of a global", "{{ range.__globals__.os.system('id') }}", "undefined"},
	{"macro calls itself", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "levels deep"},
	{"macros call each other", "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}", "levels deep"},
	{"macro doubles", "{% macro f(n) %}{{ f(n+1) }}{{ f(n+1) }}{% endmacro %}{{ f(0) }}", "levels deep"},
	{"macro tree", "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}", "more than"},
	{"caller calls itself", "{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% endmacro %}{{ g() }}", "levels deep"},
	{"open brackets", "{{ " + strings.Repeat("(", 100_000) + " }}", "brackets"},
	{"closed brackets", "{{ " + strings.Repeat("(", 60_000) + "1" + strings.Repeat(")", 60_000) + " }}", "brackets"},
	{"open lists", "{{ " + strings.Repeat("[", 100_000), "brackets"},
	{"dicts", "{{ " + strings.Repeat("{'a':", 10_000), "brackets"},
	{"indexes", "{{ a" + strings.Repeat("[a", 10_000), "brackets"},
	{"statements in statements", strings.Repeat("{% if true %}", 10_000), "statements inside each other"},
	{"loops in loops", strings.Repeat("{% for a in b %}", 7_000), "statements inside each other"},
	{"minus signs", "{{ " + strings.Repeat("- ", 100_000) + "1 }}", "tokens"},
	{"nots", "{{ " + strings.Repeat("not ", 50_000) + "1 }}", "tokens"},
	{"long sum", "{{ 1" + strings.Repeat("+1", 100_000) + " }}", "tokens"},
	{"long chain of attributes", "{{ a" + strings.Repeat(".b", 100_000) + " }}", "tokens"},
	{"chain of calls", "{{ s" + strings.Repeat(".strip()", 100_000/8) + " }}", "tokens"},
	{"chain of filters", "{{ s" + strings.Repeat("|trim", 50_000) + " }}", "tokens"},
	{"many tags", strings.Repeat("{{a}}", 52_000), "tokens"},
	{"too large", strings.Repeat("x", 256<<10+1), "bytes"},
	{"modulo zero", "{{ 1 % 0 }}", "division by zero"},
	{"divide by zero", "{{ 1 // 0 }}{{ 1 / 0 }}", "division by zero"},
	{"range", "{% for i in range(10000000) %}{% endfor %}", "range"},
	{"huge range", "{{ range(9223372036854775807)|length }}", "100000"},
	{"negative range", "{{ range(-9223372036854775807, 9223372036854775807)|length }}", "100000"},
	{"ranges in ranges", "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}", "more than"},
	{"empty loop tower", "{% for a in range(99) %}{% for b in range(99) %}{% for c in range(99) %}{% for d in range(99) %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}", "more than"},
	{"repetition", "{{ 'a' * 1000000000 }}", "MiB"},
	{"repetition that overflows", "{{ 'ab' * 9223372036854775807 }}", "MiB"},
	{"repetition of a list", "{{ [1] * 1000000000 }}", "MiB"},
	{"repetition of an empty list", "{{ ([] * 9223372036854775807)|length + 'a' }}", "calculate"},
	{"text doubles by ~", "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}", "MiB"},
	{"text doubles by +", "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}", "MiB"},
	{"text doubles by replace", "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = n.x.replace('a', 'aa') %}{% endfor %}", "MiB"},
	{"text doubles by join", "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = [n.x, n.x]|join %}{% endfor %}", "MiB"},
	{"text doubles in a block", "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set y %}{{ n.x }}{{ n.x }}{% endset %}{% set n.x = y %}{% endfor %}", "MiB"},
	{"list doubles", "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}", "MiB"},
	{"tree doubles and is printed", "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}", "more than"},
	{"tree doubles and is written as JSON", "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x|tojson }}", "more than"},
	{"trees are compared", "{% set n = namespace(x=[1], y=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}", "steps"},
	{"deep list is printed", "{% set n = namespace(x=[]) %}{% for i in range(20000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}", "levels deep"},
	{"deep lists are compared", "{% set n = namespace(x=[], y=[]) %}{% for i in range(9000) %}{% set n.x = [n.x] %}{% set n.y = [n.y] %}{% endfor %}{{ n.x == n.y }}", "levels deep"},
	{"namespace holds itself", "{% set n = namespace() %}{% set n.n = n %}{{ n }}", "printed"},
	{"namespace holds itself in a list", "{% set n = namespace() %}{% set n.l = [n] %}{{ n.l|tojson }}", "JSON"},
	{"output", "{% for i in range(100000) %}{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' * 60 }}{% endfor %}", "MiB"},
	{"padding", "{{ 'a'.center(1000000000) }}{{ 'a'.ljust(1000000000) }}", "not allowed"},
	{"format", "{{ '{:1000000000}'.format(1) }}", "not supported"},
	{"percent format", "{{ '%1000000000d' % 1 }}", "not supported"},
	{"indent", "{{ 'a\n'|indent(1000000000) }}", "outside"},
	{"JSON indent", "{{ [1]|tojson(indent=1000000000) }}", "outside"},
	{"power", "{{ 10 ** 1000000000 }}", "64 bits"},
	{"power of powers", "{{ 2 ** 62 * 2 ** 62 }}", "64 bits"},
	{"batch", "{{ [1]|batch(1000000000, 'x')|list }}", "not allowed"},
	{"lipsum", "{{ lipsum(1000000000) }}", "not allowed"},
	{"splitting", "{% set x = 'a,' * 2000000 %}{{ x.split(',')|length }}", "MiB"},
	{"characters", "{% set x = 'a' * 4000000 %}{{ x|list|length }}", "MiB"},
	{"searching", "{% set x = 'a' * 4000000 %}{% for i in range(100000) %}{% if 'b' in x %}{% endif %}{% endfor %}", "searches"},
	{"comparing", "{% set x = 'a' * 4000000 %}{% set y = 'a' * 4000000 %}{% for i in range(100000) %}{% if x == y %}{% endif %}{% endfor %}", "searches"},
	{"counting", "{% set x = 'a' * 4000000 %}{% for i in range(100000) %}{% if x|length %}{% endif %}{% endfor %}", "searches"},
	{"sorting", "{{ (range(100000)|list|reverse|list|sort)|length }}", "more than"},
	{"unique", "{% for i in range(100000) %}{{ range(100000)|unique|list|length }}{% endfor %}", "more than"},
	{"scopes are kept", "{% set n = namespace(l=[]) %}{% for i in range(100000) %}{% macro m() %}{% endmacro %}{% set n.l = [n.l, m] %}{% endfor %}", "MiB"},
	{"alternating origin", "{% set n = namespace(x='') %}{% for i in range(50000) %}{% set n.x = n.x ~ 'a' ~ data %}{% endfor %}", "MiB"},
	{"message in an exception", "{{ raise_exception('a' * 1000000) }}", "refuses"},
	{"unclosed", "{{ 'abc", "not closed"},
	{"unclosed tag", "{% if x", "not closed"},
	{"unclosed comment", "{# abc", "not closed"},
	{"unclosed block", "{% for x in y %}", "endfor"},
	{"unknown statement", "{% do x.append(1) %}", "not allowed"},
	{"raw", "{% raw %}{% endraw %}", "not allowed"},
	{"recursive loop", "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "recursive"},
	{"stray break", "{% break %}", "outside a loop"},
	{"stray end", "{% endif %}", "no beginning"},
	{"NUL", "{{ \x00 }}", "unexpected"},
	{"broken UTF-8", "{{ \xff\xfe }}", "unexpected"},
	{"unknown character before a space", "{{ 1 @ }}", "unexpected"},
	{"unknown character before a string", "{{ @'a' }}", "unexpected"},
	{"unknown character before a name", "{{ 1 +;s }}", "unexpected"},
	{"unknown character before an operator", "{{ 1 ?+ 2 }}", "unexpected"},
	{"huge number", "{{ 99999999999999999999999999 }}", "line 1"},
}

func TestHostileTemplatesAreRefused(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			got, err := render(c.source, map[string]Value{"data": Data("d"), "s": Data("s")})
			if err == nil {
				t.Fatalf("rendered %d bytes: %.80q", len(got.s), got.s)
			}
			if message := err.Error(); !strings.Contains(message, c.want) || len(message) > 500 || !utf8.ValidString(message) {
				t.Errorf("refused by %q, which should say %q in a valid text of at most 500 bytes", message, c.want)
			}
		})
	}
}

// The clock ends a rendering that has not yet exceeded the counts.
func TestTheClockEndsARendering(t *testing.T) {
	template, err := Parse("{% for i in range(5000) %}{{ i }}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	at := noon
	_, err = template.Render(nil, func() time.Time { at = at.Add(time.Second); return at })
	if err == nil || !strings.Contains(err.Error(), "runs for more than") {
		t.Errorf("error %v; it should say that the template runs for too long", err)
	}
}

// Legitimate work stays inside the limits: many turns, and long ones.
func TestLimitsLeaveRoom(t *testing.T) {
	source := "{% for m in messages %}{% set c = m.content|trim %}{{ '<|im_start|>' + m.role + '\n' + c + '<|im_end|>' + '\n' }}{% endfor %}"
	for _, size := range []struct{ turns, bytes int }{{2000, 300}, {10, 60_000}} {
		t.Run(fmt.Sprintf("%d turns of %d bytes", size.turns, size.bytes), func(t *testing.T) {
			list := make([]Value, size.turns)
			for i := range list {
				turn := &Dict{}
				turn.Set(Literal("role"), Literal("user"))
				turn.Set(Literal("content"), Data(strings.Repeat("x", size.bytes)))
				list[i] = turn
			}
			got, err := render(source, map[string]Value{"messages": NewList(list...)})
			want := size.turns * (size.bytes + len("<|im_start|>user\n<|im_end|>\n"))
			if err != nil || len(got.s) != want {
				t.Errorf("%d bytes, want %d; %v", len(got.s), want, err)
			}
		})
	}
}
