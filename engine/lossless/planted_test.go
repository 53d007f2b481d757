package lossless_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// plant is a bug to plant in a source file. All bugs are compiled into one program; an environment
// variable chooses the one to run with.
type plant struct {
	name, file, test string
	right            string // the correct text in the file
	planted          string // the text in its place, with both variants
}

// environment is the variable that names the bug to run with.
const environment = "SPECULA_PLANTED"

// switches is a file that is added to each package with a planted bug.
const switches = `package %s

import "os"

var planted = os.Getenv("` + environment + `")

func either[T any](name string, wrong, right T) T {
	if planted == name {
		return wrong
	}
	return right
}
`

var marked = regexp.MustCompile(`\{\{(.*?)\|(.*?)\}\}`)

func readPlants(t *testing.T) (list []plant) {
	t.Helper()
	text, err := os.ReadFile("planted.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n\n")) // skip the explanation
	for block := range strings.SplitSeq(string(text), ">>>\n") {
		head, change, ok := strings.Cut(strings.TrimLeft(block, "\n"), "\n<<<\n")
		if !ok {
			continue
		}
		name, where, _ := strings.Cut(head, "\n")
		file, test, told := strings.Cut(where, " ")
		if !told {
			t.Fatalf("planted.txt: %q is not a name, then a file and a test, then a change", head)
		}
		p := plant{name: name, file: file, test: test}
		if right, wrong, lines := strings.Cut(change, "===\n"); lines {
			p.right, p.planted = right, fmt.Sprintf("if planted == %q {\n%s} else {\n%s}\n", name, wrong, right)
		} else {
			change = strings.TrimSpace(change)
			p.right = marked.ReplaceAllString(change, "$1")
			p.planted = marked.ReplaceAllString(change, fmt.Sprintf("either(%q, $2, $1)", name))
		}
		list = append(list, p)
	}
	return list
}

// build compiles these tests with all bugs planted.
func build(t *testing.T, list []plant) (program string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folder, replace, texts := t.TempDir(), map[string]string{}, map[string]string{}
	for _, p := range list {
		path := filepath.Join(root, p.file)
		if texts[path] == "" {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
			inside := filepath.Dir(path)
			texts[filepath.Join(inside, "planted.go")] = fmt.Sprintf(switches, filepath.Base(inside))
		}
		if n := strings.Count(texts[path], p.right); n != 1 {
			t.Fatalf("%s: what it replaces stands %d times in %s: bring planted.txt up to date", p.name, n, p.file)
		}
		texts[path] = strings.Replace(texts[path], p.right, p.planted, 1)
	}
	for path, text := range texts {
		planted := filepath.Join(folder, fmt.Sprintf("%d.go", len(replace)))
		replace[path] = planted
		if err := os.WriteFile(planted, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(folder, "planted.test")
	command := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(folder, "overlay.json"), "-o", program, ".")
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return program
}

func TestEveryPlantedBugIsNoticed(t *testing.T) {
	t.Parallel()
	list := readPlants(t)
	if len(list) < 52 {
		t.Fatalf("only %d bugs were read", len(list))
	}
	program := build(t, list)
	for seed := range uint64(*seeds) {
		for _, p := range list {
			t.Run(fmt.Sprint(strings.ReplaceAll(p.name, " ", "-"), "/", *firstSeed+seed), func(t *testing.T) {
				t.Parallel()
				run := "^" + strings.ReplaceAll(p.test, "/", "$/^") + "$"
				command := exec.Command(program, "-test.run", run, "-test.count=1", "-test.timeout=100s", fmt.Sprint("-first-seed=", *firstSeed+seed))
				command.Env = append(os.Environ(), environment+"="+p.name)
				said, err := command.CombinedOutput()
				if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				if err == nil {
					t.Errorf("%s does not notice it:\n%s", p.test, said)
				}
				// The output of a run that failed as it should must not be counted as a failure of
				// this test.
				t.Logf("%s", strings.ReplaceAll(string(said), "--- FAIL", "noticed"))
			})
		}
	}
}
