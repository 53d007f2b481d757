package gpu_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The package for a machine with a GPU has the folders that the tests read there.
func TestThePackageHasWhatTestsRead(t *testing.T) {
	pack, err := os.ReadFile("check/pack")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob("*_test.go")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	folder := regexp.MustCompile(`"\.\./((?:assets|engine)/[a-z/]+/)`)
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range folder.FindAllSubmatch(text, -1) {
			if read := path.Clean(string(found[1])); !strings.Contains(string(pack), " "+read) {
				t.Errorf("%s reads %s, which check/pack does not pack", source, read)
			}
		}
	}
}
