package model

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// README says of how many architectures folders are read.
func TestREADMECountsFolders(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders := 0
	for _, a := range architectures() {
		if len(a.saved.types) > 0 {
			folders++
		}
	}
	if says := fmt.Sprintf("safetensors folders | %d of the dense architectures", folders); !strings.Contains(string(text), says) {
		t.Errorf("README does not say %q", says)
	}
}
