package main

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rules of the repository that a compiler does not know.

var update = flag.Bool("update", false, "write what is generated: the tables of keys and settings in docs")

// source is one Go file of the repository that is not a test.
type source struct {
	path  string // with slashes, from the root
	text  []byte
	ast   *ast.File
	files *token.FileSet // has the positions of ast; one for all sources
}

func (s source) pkg() string { return filepath.ToSlash(filepath.Dir(s.path)) }

func (s source) generated() bool { return ast.IsGenerated(s.ast) }

func (s source) imports(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, spec := range s.ast.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", s.path, err)
		}
		paths = append(paths, path)
	}
	return paths
}

// walk visits the repository's files, except testdata, dot names other than .ci, and what .gitignore names.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	ignored := words(t, ".gitignore")
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		path = filepath.ToSlash(path)
		hidden := strings.HasPrefix(d.Name(), ".") && path != ".ci" || d.Name() == "testdata"
		for _, pattern := range ignored {
			if ok, err := filepath.Match(strings.Trim(pattern, "/"), path); err == nil && ok {
				hidden = true
			}
		}
		switch {
		case hidden && d.IsDir():
			return filepath.SkipDir
		case !hidden && !d.IsDir():
			visit(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func words(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	files := token.NewFileSet()
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(files, path, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, source{path, text, file, files})
	})
	if len(list) < 50 {
		t.Fatalf("only %d files were found", len(list))
	}
	return list
}

// arrows says which packages of ours a package may import. The first row whose from covers the
// package counts. "x/..." covers x and all packages below.
var arrows = []struct {
	from string
	to   []string
}{
	{".", []string{"assets", "engine/...", "gpu", "ui/..."}},
	{"assets", nil},
	{"engine/event", nil},
	{"engine/compute/...", nil},
	{"engine/host", []string{"engine/compute/...", "kernels/cpu", "kernels/format"}},
	{"engine/app", []string{"assets", "engine/...", "tokenizer/..."}},
	{"engine/gamma", []string{"engine/event"}},
	{"engine/sample", []string{"engine/compute"}},
	{"engine/...", []string{"engine/...", "tokenizer/...", "kernels/format"}},
	{"gpu", []string{"engine/compute/...", "kernels/cuda", "kernels/format", "kernels/ref", "gpu/..."}},
	{"gpu/check/collect", nil},
	{"gpu/check/model", []string{"kernels/cuda", "kernels/format"}},
	{"gpu/...", []string{"engine/compute"}},
	{"kernels/cuda/testbench/sim", nil},
	{"kernels/format", nil},
	{"kernels/...", []string{"kernels/..."}},
	{"tokenizer/...", []string{"tokenizer/..."}},
	{"ui/cli", []string{"ui/...", "engine", "engine/app", "engine/event", "engine/trace", "engine/config"}},
	{"ui/pane", []string{"ui/...", "engine/event", "engine/config", "engine/spec"}},
	{"ui/...", []string{"ui/...", "engine", "engine/event", "engine/trace", "engine/config"}},
}

// notInEngine lists packages that the row of engine/... in arrows allows, but that no package of this row may import.
var notInEngine = []string{"engine/host", "engine/app"}

func covers(pattern, pkg string) bool {
	base, below := strings.CutSuffix(pattern, "/...")
	return pkg == base || below && strings.HasPrefix(pkg, base+"/")
}

func coveredByAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, pkg) })
}

func TestDependenciesPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		i := slices.IndexFunc(arrows, func(a struct {
			from string
			to   []string
		}) bool {
			return covers(a.from, s.pkg())
		})
		if i < 0 {
			t.Errorf("%s: no rule says what the package %s may import", s.path, s.pkg())
			continue
		}
		for _, path := range s.imports(t) {
			ours, ok := strings.CutPrefix(path, "specula/")
			if !ok {
				continue
			}
			if !coveredByAny(arrows[i].to, ours) || arrows[i].from == "engine/..." && slices.Contains(notInEngine, ours) {
				t.Errorf("%s imports %s; %s may import %q", s.path, path, s.pkg(), arrows[i].to)
			}
		}
	}
}

// No file of kernels names the package gpu or a file of it: not a test, not a script, not C++. So
// the kernels can be read, built and tested without the code that launches them.
func TestKernelsDoNotKnowTheirUsers(t *testing.T) {
	users := regexp.MustCompile(`specula/gpu\b|\bgpu/(driver|check|planted)\b`)
	visited := 0
	walk(t, func(path string) {
		if !strings.HasPrefix(path, "kernels/") || strings.HasPrefix(path, "kernels/cuda/reports/") {
			return
		}
		visited++
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if found := users.Find(text); found != nil {
			t.Errorf("%s names %s", path, found)
		}
	})
	if visited < 100 {
		t.Errorf("only %d files were read", visited)
	}
}

// foreign says where packages of others may be used, if not everywhere.
var foreign = []struct{ path, where string }{
	{"charm.land", "ui/..."},
	{"github.com/charmbracelet", "ui/..."},
	{"gorgonia.org/cu", "gpu/driver"},
	{"github.com/spf13", "ui/cli"},
	{"github.com/adrg/xdg", "."},
	{"github.com/klauspost/compress", "kernels/cuda/..."},
	{"net", "engine/remote/..."},         // everything else stays on this machine
	{"unsafe", "kernels/... gpu/driver"}, // ui/rest.go reads an unexported pointer by reflect instead
	{"C", "gpu/driver"},
	{"plugin", "nowhere"},
}

func TestForeignPackagesStayInTheirRooms(t *testing.T) {
	for _, s := range sources(t) {
		for _, path := range s.imports(t) {
			for _, f := range foreign {
				if covers(f.path+"/...", path) && !coveredByAny(strings.Fields(f.where), s.pkg()) && !s.generated() {
					t.Errorf("%s imports %s, which may be used in %s only", s.path, path, f.where)
				}
			}
		}
	}
}

func TestEveryPackageHasOneComment(t *testing.T) {
	comments := map[string][]string{}
	for _, s := range sources(t) {
		list := comments[s.pkg()]
		if s.ast.Doc != nil {
			list = append(list, s.path)
			text := s.ast.Doc.Text()
			if name := s.ast.Name.Name; name != "main" && !strings.HasPrefix(text, "Package "+name+" ") {
				t.Errorf("%s: the package comment does not begin with %q", s.path, "Package "+name)
			}
		}
		comments[s.pkg()] = list
	}
	for pkg, files := range comments {
		if len(files) != 1 {
			t.Errorf("package %s has %d package comments: %v", pkg, len(files), files)
		}
	}
}

const maxLines = 450

func TestFilesHaveOneJob(t *testing.T) {
	vague := regexp.MustCompile(`(^|/)(utils?|common|helpers?|types|misc)(/|\.go$|$)`)
	for _, s := range sources(t) {
		if lines := bytes.Count(s.text, []byte("\n")); lines > maxLines && !s.generated() {
			t.Errorf("%s has %d lines; at most %d", s.path, lines, maxLines)
		}
		if vague.MatchString(s.path) {
			t.Errorf("%s: the name does not say what is in it", s.path)
		}
	}
}

func TestOnlyKnownNamesAtTheRoot(t *testing.T) {
	known := []string{".ci", ".gitignore", ".gitattributes", "CONTRIBUTING.md", "LICENSE", "Makefile", "NOTICE", "README.md",
		"assets", "config.toml", "docs", "docs_test.go", "engine", "go.mod", "go.sum", "gpu", "kernels", "main.go", "main_test.go",
		"repo_test.go", "tokenizer", "ui", "uses_test.go"}
	seen := map[string]bool{}
	walk(t, func(path string) {
		name, _, _ := strings.Cut(path, "/")
		if !seen[name] && !slices.Contains(known, name) {
			t.Errorf("%s does not belong at the root", name)
		}
		seen[name] = true
	})
	needed := []string{".ci", "CONTRIBUTING.md", "LICENSE", "Makefile", "NOTICE", "README.md", "config.toml", "docs", "go.mod", "main.go"}
	for _, name := range needed {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestGoModReplacesNothing(t *testing.T) {
	if slices.Contains(words(t, "go.mod"), "replace") {
		t.Error("go.mod has a replace; go install would ignore it")
	}
}

// A path of one machine means nothing to anybody else.
func TestNothingPointsOutsideTheRepository(t *testing.T) {
	outside := regexp.MustCompile(`(^|[\s"'(=])/(work|farm|root|tmp/brief)/`)
	walk(t, func(path string) {
		switch filepath.Ext(path) {
		case ".go", ".md", ".toml", ".txt", ".s", ".cu", "":
		default:
			return
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if found := outside.Find(data); found != nil && path != "repo_test.go" {
			t.Errorf("%s names a place on somebody's machine: %q", path, found)
		}
	})
}
