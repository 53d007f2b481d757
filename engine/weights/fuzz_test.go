package weights

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"

	"specula/engine/weights/gguf"
)

// FuzzGGUF: any bytes lead to a usable file or to an error about the bytes, and never to a panic,
// caught or not. The seeds are all malformed files of the corpus, valid files, and the base file
// cut at every field.
func FuzzGGUF(f *testing.F) {
	seeds := 0
	add := func(data []byte) {
		if len(data) < 64<<10 { // longer files only slow down the search
			f.Add(data)
			seeds++
		}
	}
	for _, c := range corpus(f) {
		add(c.file)
	}
	base := baseBuilder().Bytes()
	add(base)
	for _, at := range slices.Sorted(maps.Values(landmarks(base))) {
		add(base[:at])
	}
	add(vocabulary("llama", nil).Bytes())
	add(vocabulary("gpt2", map[string]any{"pre": "qwen2", "eos_token_id": uint32(2)}).Bytes())
	add((&gguf.Builder{Version: 2, Alignment: 1}).Vector("v", []float32{1}).Bytes())
	if seeds < 100 {
		f.Fatalf("only %d seeds", seeds)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("fuzz", data)
		if errors.As(err, new(*ForeignError)) {
			checkMessage(t, err)
			return
		}
		if err != nil {
			var m *MalformedError
			if errors.Is(err, errFault) || !errors.As(err, &m) || m.Offset < 0 {
				t.Fatal(err)
			}
			checkMessage(t, err)
			return
		}
		useAll(t, file)
		again, err := Parse("fuzz", data[:file.header.end])
		if err != nil {
			t.Fatalf("without the spare bytes: %v", err)
		}
		if !reflect.DeepEqual(again.header, file.header) {
			t.Fatal("spare bytes change what is read")
		}
	})
}
