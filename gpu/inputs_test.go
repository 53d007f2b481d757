package gpu

import (
	"fmt"
	"testing"
)

// Every word of a tape has room on the device, also the last of several words that are appended together.
func TestWordsThatHaveNoRoomAreRefused(t *testing.T) {
	b, err := newBackend(newRecorder(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	append2 := func(before int) (refused any) {
		defer func() { refused = recover() }()
		b.tape.words = make([]int32, before)
		if got := b.word(b.tape.word(1, 2)) - b.inputs.words; int(got) != 4*before {
			t.Errorf("after %d words, the next lies at byte %d", before, got)
		}
		return nil
	}
	if refused := append2(inputWords - 2); refused != nil {
		t.Errorf("the last two words of a tape: %v", refused)
	}
	if refused := append2(inputWords - 1); fmt.Sprint(refused) != "gpu: a pass with too many words" {
		t.Errorf("a word too many: %v", refused)
	}
	b.tape.reset()
}
