package jinja

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Published templates, which are not part of this repository, render as Jinja does, or are refused
// as Jinja does. "make templates" fetches them and says in which folder they are.
func TestPublishedTemplates(t *testing.T) {
	folder := os.Getenv("SPECULA_TEMPLATES")
	if folder == "" {
		t.Skip("no published templates: make templates fetches and tests them")
	}
	raw, err := os.ReadFile("testdata/published.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Shared        json.RawMessage
		Conversations []json.RawMessage
		Templates     map[string]struct{ SHA256, Digests string }
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	shared := variables(t, file.Shared)
	for name, want := range file.Templates {
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			if sum := sha256.Sum256(source); hex.EncodeToString(sum[:]) != want.SHA256 {
				t.Fatal("the template is not the one that testdata/published.json was made from")
			}
			for i, c := range file.Conversations {
				named := variables(t, c)
				for key, v := range named { // @name stands for a shared value
					if text, ok := v.(Text); ok && strings.HasPrefix(text.s, "@") {
						named[key] = shared[text.s[1:]]
					}
				}
				text, err := render(string(source), named)
				digest := "----"
				if err == nil {
					sum := sha256.Sum256([]byte(text.s))
					digest = hex.EncodeToString(sum[:2])
				}
				if due := want.Digests[4*i : 4*i+4]; digest != due {
					t.Errorf("conversation %d, %s: digest %s, want %s; error %v", i, c, digest, due, err)
					save(t, fmt.Sprintf("%s %d", name, i), text.s)
				}
			}
		})
	}
}

// save keeps a text that is not as it should be, for a look at it.
func save(t *testing.T, name, text string) {
	if folder := os.Getenv("SPECULA_TEXTS"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// variables reads JSON. All strings become data.
func variables(t *testing.T, raw json.RawMessage) map[string]Value {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	all := decode(t, d).(*Dict)
	named := map[string]Value{}
	for i, key := range all.keys {
		named[key.(Text).s] = all.values[i]
	}
	return named
}
