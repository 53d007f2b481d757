package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"specula/engine/config"
	"specula/engine/model"
	"specula/engine/spec"
	"specula/kernels/cpu"
	"specula/kernels/cuda"
	"specula/kernels/format"
	"specula/tokenizer"
	"specula/ui/command"
	"specula/ui/keys"
)

// The documents are README.md, CONTRIBUTING.md and the files of docs. Their tables are generated,
// and what they name must exist.

// document is README.md, CONTRIBUTING.md or a file of docs.
type document struct {
	path string // with slashes, from the root
	text string
}

func documents(t *testing.T) []document {
	t.Helper()
	paths, err := filepath.Glob("docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("docs has no documents: %v", err)
	}
	var list []document
	for _, path := range append(paths, "README.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, document{filepath.ToSlash(path), string(text)})
	}
	return list
}

func TestDocsHaveTheKeys(t *testing.T) {
	isGenerated(t, "docs/keys.md", "keys", keys.Markdown())
}

func TestDocsHaveTheCommands(t *testing.T) {
	isGenerated(t, "docs/keys.md", "commands", command.Markdown())
}

func TestDocsHaveTheSettings(t *testing.T) {
	isGenerated(t, "docs/settings.md", "settings", settingsMarkdown())
}

func TestDocsHaveWhatCanBeLoaded(t *testing.T) {
	isGenerated(t, "docs/models.md", "loadable",
		"- architectures: "+strings.Join(model.Architectures(), ", ")+"\n- `model_type` of folders: "+strings.Join(model.SavedTypes(), ", ")+
			"\n- tensor types: "+format.Names(", "))
	isGenerated(t, "docs/models.md", "types", typesMarkdown())
	isGenerated(t, "docs/models.md", "vocabularies",
		"- `tokenizer.ggml.model`: "+strings.Join(tokenizer.Models(), ", ")+
			"\n- `tokenizer.ggml.pre`: "+strings.Join(tokenizer.PreTokenizers(), ", "))
}

// typesMarkdown is the table of how many bits a weight of each type takes: in the file, and repacked for
// the processor and for a GPU.
func typesMarkdown() string {
	var b strings.Builder
	b.WriteString("| type | bits a weight in the file | processor | GPU |\n|---|--:|--:|--:|\n")
	const rows, cols = 64, 1024
	for _, f := range format.Loadable() {
		bits := func(bytes int64) string { return fmt.Sprintf("%.4g", float64(8*bytes)/(rows*cols)) }
		inFile := bits(rows * cols / int64(f.BlockElements) * int64(f.BlockBytes))
		onProcessor := inFile
		if panels, ok := cpu.FormatOf(f.Type); ok {
			onProcessor = bits(panels.PanelBytes(rows, cols))
		}
		device, own := cuda.PackedFormat(f.Type)
		if !own {
			device, _ = cuda.StoredAs(f.Type)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.Name, inFile, onProcessor, bits(int64(device.Bytes(rows, cols))))
	}
	return b.String()
}

// Every proposer and every rule has a row in the first table of its document, and is described below it. The
// glossary lists the rules. All rules but token read whole rows, and the table of paths says so.
func TestDocsDescribeEveryProposerAndRule(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	describes := func(path, key string) {
		text := read(path)
		table, sections, _ := strings.Cut(text, "\n## ")
		setting, _ := config.Lookup(key)
		for _, name := range setting.Choices {
			if !regexp.MustCompile("(?m)^\\| [^|]*`" + regexp.QuoteMeta(name) + "`[^|]* \\|").MatchString(table) {
				t.Errorf("%s does not describe %s: add a row to its table", path, name)
			}
			if !regexp.MustCompile("(?m)^## .*\\b" + name + "\\b|`" + name + "` is ").MatchString("## " + sections) {
				t.Errorf("%s has no section about %s: add one", path, name)
			}
		}
	}
	describes("docs/proposers.md", "speculation.proposer")
	describes("docs/acceptance.md", "speculation.acceptance")
	rules, _ := config.Lookup("speculation.acceptance")
	for _, c := range []struct {
		path, row string
		but       string // the rule that the row need not name
	}{
		{"docs/glossary.md", "| rule (of acceptance) |", ""},
		{"docs/acceptance.md", "| `fallback` |", string(spec.Token)},
	} {
		_, row, _ := strings.Cut(read(c.path), "\n"+c.row)
		row, _, _ = strings.Cut(row, "\n")
		for _, name := range rules.Choices {
			if name != c.but && !strings.Contains(row, "`"+name+"`") {
				t.Errorf("%s does not list %s: add it to the row %s", c.path, name, c.row)
			}
		}
	}
}

// isGenerated compares the block between <!-- name --> and <!-- /name --> in a document with what
// it should be. If they differ, the test fails; with -update, isGenerated writes the block instead.
func isGenerated(t *testing.T, path, name, block string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for its table: it stands between the lines\n%s%s", path, begin, end)
	}
	want := before + begin + "\n" + strings.TrimSpace(block) + "\n\n" + end + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("the table in %s is not that of the code: run make generate", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// settingsMarkdown is the table of settings, one table for each section of config.toml.
func settingsMarkdown() string {
	var out strings.Builder
	section := ""
	for _, s := range config.Settings() {
		if s.Section() != section {
			section = s.Section()
			fmt.Fprintf(&out, "\n## %s\n\n| setting | flag, command | default | allowed | takes effect | what it does |\n", section)
			out.WriteString("|---|---|---|---|---|---|\n")
		}
		names := "`--" + s.Flag + "`"
		if s.Slash != "" {
			names += " `/" + s.Slash + "`"
		}
		value := "none"
		if s.Default != "" && s.Default != "[]" {
			value = "`" + s.Default + "`"
		}
		cells := []string{"`" + s.Key() + "`", names, value, s.Allowed(), string(s.Applies), s.Doc}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
	}
	return out.String()
}

var (
	linkPattern    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingPattern = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	notInAnchor    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the names by which a link reaches the headings of a document.
func anchors(text string) []string {
	var list []string
	for _, m := range headingPattern.FindAllStringSubmatch(text, -1) {
		name := notInAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(strings.TrimSpace(name), " ", "-"))
	}
	return list
}

func TestLinksOfTheDocumentsLead(t *testing.T) {
	for _, d := range documents(t) {
		for _, m := range linkPattern.FindAllStringSubmatch(d.text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			path, text := d.path, d.text
			if file != "" {
				path = filepath.Join(filepath.Dir(d.path), file)
				data, err := os.ReadFile(path)
				if info, errStat := os.Stat(path); err != nil && (errStat != nil || !info.IsDir()) {
					t.Errorf("%s links to %s, which does not exist", d.path, m[1])
					continue
				}
				text = string(data)
			}
			if anchor != "" && !slices.Contains(anchors(text), anchor) {
				t.Errorf("%s links to %s, but %s has no such heading", d.path, m[1], path)
			}
		}
	}
}

var (
	quotedPattern = regexp.MustCompile("`([^`\n]+)`")
	namePattern   = regexp.MustCompile("`([A-Za-z]\\w*(?:\\.[A-Z]\\w*)?)` in `([\\w./-]+\\.\\w+)`")
	testPattern   = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark|Example)[A-Z]\w*`)
	pathPattern   = regexp.MustCompile(`^\.?[\w-][\w.*-]*(/[\w.*-]+)+/?$`)
)

// TestDocumentsNameFilesThatExist looks at what stands in backquotes, has the form of a path and
// begins with a name at the root of the repository.
func TestDocumentsNameFilesThatExist(t *testing.T) {
	for _, d := range documents(t) {
		for _, m := range quotedPattern.FindAllStringSubmatch(d.text, -1) {
			path := strings.TrimPrefix(m[1], "./")
			root, _, _ := strings.Cut(path, "/")
			if _, err := os.Stat(root); err != nil || !pathPattern.MatchString(path) {
				continue
			}
			if found, err := filepath.Glob(strings.TrimSuffix(path, "/")); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which does not exist", d.path, path)
			}
		}
		// `Name` in `path` says where something is declared or used.
		for _, m := range namePattern.FindAllStringSubmatch(d.text, -1) {
			text, err := os.ReadFile(m[2])
			name := m[1][strings.LastIndexByte(m[1], '.')+1:]
			if err != nil || !regexp.MustCompile(`\b`+name+`\b`).Match(text) {
				t.Errorf("%s says that %s is in %s: %v", d.path, m[1], m[2], err)
			}
		}
	}
}

func TestDocumentsNameTestsThatExist(t *testing.T) {
	var tests bytes.Buffer
	walk(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
		}
	})
	for _, d := range documents(t) {
		for _, name := range testPattern.FindAllString(d.text, -1) {
			if !bytes.Contains(tests.Bytes(), []byte("func "+name+"(")) {
				t.Errorf("%s names %s, but there is no such test", d.path, name)
			}
		}
	}
}

var (
	makePattern = regexp.MustCompile("(?m)(?:`|^ {4}(?:.*&& )?)make ([a-z][a-z0-9-]*)")
	programLine = regexp.MustCompile("(?m)(?:`|^ {4}|\\| )(?:[A-Z_]+=\\S+ )?(?:\\./)?(?:specula|go run \\.)((?: [^`\\n]*)?)")
	flagPattern = regexp.MustCompile(`(?:^| )(--?[a-z][a-z-]*)`)
)

// TestDocumentsNameCommandsThatExist looks at command lines of make and of the program. Of the
// program it checks the command and its flags.
func TestDocumentsNameCommandsThatExist(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents(t) {
		for _, m := range makePattern.FindAllStringSubmatch(d.text, -1) {
			if !bytes.Contains(makefile, []byte("\n"+m[1]+":")) {
				t.Errorf("%s names make %s, which the Makefile does not have", d.path, m[1])
			}
		}
		for _, m := range programLine.FindAllStringSubmatch(d.text, -1) {
			checkCommand(t, d.path, strings.Fields(strings.SplitN(m[1], "#", 2)[0]))
		}
	}
}

// checkCommand compares a command line with the help of the command that it calls.
func checkCommand(t *testing.T, path string, args []string) {
	t.Helper()
	var help bytes.Buffer
	command, name := []string{"--help-all"}, "specula"
	isModel := len(args) > 0 && (strings.HasSuffix(args[0], ".gguf") || strings.HasSuffix(args[0], "/")) // a file or a folder
	if len(args) > 0 && !isModel && !strings.HasPrefix(args[0], "-") && !strings.HasPrefix(args[0], `"`) {
		command, name = []string{args[0], "--help-all"}, "specula "+args[0]
	}
	p := program()
	p.Terminal.Stdout, p.Terminal.Stderr = &help, &help
	if code := p.Run(t.Context(), command); code != 0 {
		t.Errorf("%s: specula %s: %s", path, strings.Join(args, " "), help.String())
		return
	}
	if !strings.Contains(help.String(), "\n  "+name+" ") { // the line under Usage
		t.Errorf("%s: %s: there is no such command", path, name)
		return
	}
	for _, m := range flagPattern.FindAllStringSubmatch(strings.Join(args, " "), -1) {
		if !regexp.MustCompile(`(^|[\s,])` + m[1] + `([\s,]|$)`).MatchString(help.String()) {
			t.Errorf("%s: specula %s: the help knows no flag %s", path, strings.Join(args, " "), m[1])
		}
	}
}
