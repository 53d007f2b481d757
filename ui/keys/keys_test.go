package keys_test

import (
	"fmt"
	"strings"
	"testing"

	"specula/ui/keys"
)

func ExampleMap_Lookup() {
	m := keys.NewMap(keys.Bindings())
	fmt.Println(m.Lookup(keys.Compose, "alt+up") == keys.GammaUp)
	fmt.Println(m.Lookup(keys.Compose, "j") == keys.None, m.Lookup(keys.Read, "j") == keys.Down)
	// Output:
	// true
	// true true
}

func TestNoKeyIsBoundTwiceInOnePlace(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a table that binds f1 twice was accepted")
		}
	}()
	keys.NewMap(keys.Bindings()) // the real table must not panic
	keys.NewMap([]keys.Binding{{keys.Everywhere, keys.Help, []string{"f1"}, ""}, {keys.Read, keys.View, []string{"f1"}, ""}})
}

func TestKeysThatWorkWhileTypingAreNotText(t *testing.T) {
	for _, b := range keys.Bindings() {
		if b.Focus != keys.Everywhere {
			continue
		}
		for _, k := range b.Keys {
			if len([]rune(k)) == 1 {
				t.Errorf("%q (%s) would swallow a typed character", k, b.Does)
			}
		}
	}
}

func TestNoNeededKeyBelongsToTheTerminal(t *testing.T) {
	taken := map[string]bool{"ctrl+s": true, "ctrl+q": true, "ctrl+b": true, "ctrl+a": true, "f10": true, "f11": true,
		"alt+up": true, "alt+down": true, "alt+left": true, "alt+right": true}
	for _, b := range keys.Bindings() {
		free := false
		for _, k := range b.Keys {
			free = free || !taken[k]
		}
		if !free {
			t.Errorf("%q is reachable only by keys that terminals or multiplexers keep: %v", b.Does, b.Keys)
		}
	}
}

func TestHelpListsEveryBinding(t *testing.T) {
	lines := 0
	for _, l := range keys.Overlay() {
		if l.Keys != "" {
			lines++
		}
	}
	if want := len(keys.Bindings()); lines != want {
		t.Errorf("help has %d lines with keys, the table has %d bindings", lines, want)
	}
	if !strings.Contains(keys.Markdown(), "| `alt+↑` `shift+↑` |") {
		t.Errorf("the Markdown table misses alt+↑:\n%s", keys.Markdown())
	}
}
