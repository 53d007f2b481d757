package planted

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// errNotAFunction says that a slip cannot be switched on in a running program, and needs a program of its own.
var errNotAFunction = errors.New("the slip changes something else than the body of one function")

// switched returns the text of a Go file with all slips in it. Each slip is a copy of the function that it
// changes; the function calls the copy if the environment names the slip.
func switched(text string, list []slip) (string, error) {
	var copies strings.Builder
	insert := map[int]string{} // by the place in text
	for n, s := range list {
		right, wrong, err := changed(text, strings.Replace(text, s.old, s.new, 1))
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
		name := fmt.Sprintf("%sSlip%d", wrong.Name.Name, n)
		call, err := right.call(name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
		insert[right.at(right.Body.Lbrace)+1] += fmt.Sprintf(" if slipped == %q { %s }; ", s.name, call)
		fmt.Fprintf(&copies, "\n%s%s%s\n", wrong.piece(wrong.Pos(), wrong.Name.Pos()), name, wrong.piece(wrong.Name.End(), wrong.End()))
	}
	var out strings.Builder
	for i := range len(text) {
		out.WriteString(insert[i])
		out.WriteByte(text[i])
	}
	return out.String() + copies.String(), nil
}

// function is a function of a file.
type function struct {
	*ast.FuncDecl
	file *source
}

// source is a parsed file.
type source struct {
	text  string
	base  int // position of the first byte
	decls []ast.Decl
}

func parse(text string) (*source, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &source{text, set.File(file.Pos()).Base(), file.Decls}, nil
}

func (s *source) at(p token.Pos) int               { return int(p) - s.base }
func (s *source) piece(from, to token.Pos) string  { return s.text[s.at(from):s.at(to)] }
func (f function) at(p token.Pos) int              { return f.file.at(p) }
func (f function) piece(from, to token.Pos) string { return f.file.piece(from, to) }

// changed returns the only function that two texts of a file have different bodies of.
func changed(right, wrong string) (before, after function, err error) {
	a, err := parse(right)
	if err != nil {
		return before, after, err
	}
	b, err := parse(wrong)
	if err != nil {
		return before, after, err
	}
	if len(a.decls) != len(b.decls) {
		return before, after, errNotAFunction
	}
	for i, x := range a.decls {
		y := b.decls[i]
		if a.piece(x.Pos(), x.End()) == b.piece(y.Pos(), y.End()) {
			continue
		}
		f, isFunction := x.(*ast.FuncDecl)
		g, stillIs := y.(*ast.FuncDecl)
		if !isFunction || !stillIs || before.FuncDecl != nil ||
			a.piece(f.Pos(), f.Body.Lbrace) != b.piece(g.Pos(), g.Body.Lbrace) {
			return before, after, errNotAFunction
		}
		before, after = function{f, a}, function{g, b}
	}
	if before.FuncDecl == nil {
		return before, after, errors.New("the slip changes nothing")
	}
	return before, after, nil
}

// call returns the statements that end f by calling a copy of it with its own arguments.
func (f function) call(name string) (string, error) {
	var arguments []string
	for _, field := range f.Type.Params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		if len(field.Names) == 0 {
			return "", errNotAFunction
		}
		for _, n := range field.Names {
			if n.Name == "_" {
				return "", errNotAFunction
			}
			arguments = append(arguments, n.Name)
		}
		if variadic {
			arguments[len(arguments)-1] += "..."
		}
	}
	if f.Recv != nil {
		if len(f.Recv.List[0].Names) == 0 {
			return "", errNotAFunction
		}
		name = f.Recv.List[0].Names[0].Name + "." + name
	}
	call := name + "(" + strings.Join(arguments, ", ") + ")"
	if f.Type.Results == nil {
		return call + "; return", nil
	}
	return "return " + call, nil
}

// bySwitch tells slips that can be switched on in one program from those that need a program each.
func bySwitch(t *testing.T, root string, list []slip) (one map[string][]slip, each []slip) {
	t.Helper()
	one = map[string][]slip{}
	for _, s := range list {
		if !strings.HasSuffix(s.file, ".go") {
			each = append(each, s)
			continue
		}
		path := filepath.Join(root, s.file)
		if _, err := switched(read(t, path), []slip{s}); errors.Is(err, errNotAFunction) {
			each = append(each, s)
		} else if err != nil {
			t.Fatalf("wiring.txt: %v", err)
		} else {
			one[path] = append(one[path], s)
		}
	}
	return one, each
}

// Most slips are in the body of a function, so that one program holds them all.
func TestSlipsAreSwitchedOn(t *testing.T) {
	one, each := bySwitch(t, "../..", readSlips(t))
	files := 0
	for path, list := range one {
		text, err := switched(read(t, path), list)
		if err == nil {
			_, err = parse(text)
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		files++
	}
	for _, s := range each {
		if strings.HasSuffix(s.file, ".go") {
			t.Logf("%s: needs a program of its own", s.name)
		}
	}
	if files < 10 {
		t.Errorf("slips in only %d files can be switched on", files)
	}
}

func TestASwitchedFunctionCallsItsCopy(t *testing.T) {
	text := "package p\n\nfunc (r *T) f(a, b int, c ...string) (n int) { return a + b }\n"
	got, err := switched(text, []slip{{name: "less", old: "a + b", new: "a - b"}, {name: "none", old: "a + b", new: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "package p\n\nfunc (r *T) f(a, b int, c ...string) (n int) {" +
		" if slipped == \"less\" { return r.fSlip0(a, b, c...) };  if slipped == \"none\" { return r.fSlip1(a, b, c...) };  return a + b }\n" +
		"\nfunc (r *T) fSlip0(a, b int, c ...string) (n int) { return a - b }\n\nfunc (r *T) fSlip1(a, b int, c ...string) (n int) { return 0 }\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, s := range []slip{{name: "another function", old: "package p\n", new: "package p\nfunc g() {}\n"},
		{name: "head", old: "a, b int", new: "a, b int8"}} {
		if _, err := switched(text, []slip{s}); !errors.Is(err, errNotAFunction) {
			t.Errorf("%s: %v, want %v", s.name, err, errNotAFunction)
		}
	}
}
