// Package modeltest has small models for tests of several packages. It reads the tiny models of every
// family, which `make oracle` makes, and builds files of random weights (Noisy).
package modeltest

import (
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// Unpack returns what a compressed file of engine/model/testdata/architectures holds: a GGUF file.
func Unpack(t testing.TB, path string) []byte {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
