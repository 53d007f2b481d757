package cuda

import (
	"errors"
	"strings"
	"testing"
)

// A card gets the code of its major capability and of the highest minor one that is not above its own.
func TestWhichMachineCodeRunsOnACard(t *testing.T) {
	for capability, want := range map[int]int{80: 80, 86: 86, 87: 86, 88: 86, 89: 89, 90: 90, 100: 100, 103: 100,
		120: 120, 121: 120, 70: 0, 75: 0, 110: 0, 130: 0} {
		c := CodeFor(capability)
		if c.target != want {
			t.Errorf("a card of capability %d gets the code for %d, want %d", capability, c.target, want)
		}
		if _, err := c.Module("norm"); want == 0 && (err == nil || !strings.Contains(err.Error(), "no machine code for")) {
			t.Errorf("capability %d: error %v", capability, err)
		}
	}
}

// Machine code that was made of other PTX than the program has, or that cannot be read, is not given.
func TestMachineCodeOfOtherPTXIsRefused(t *testing.T) {
	ptx, err := PTX("norm")
	if err != nil {
		t.Fatal(err)
	}
	images := map[string][]byte{"norm": []byte("code")}
	for name, c := range map[string]struct {
		code Code
		says string // "": the code is given
	}{
		"of this PTX":  {Code{target: 90, images: images, hashes: HashLine("rope", "") + HashLine("norm", ptx)}, ""},
		"of other PTX": {Code{target: 90, images: images, hashes: HashLine("norm", ptx+" ")}, "made of other PTX"},
		"without":      {Code{target: 90, hashes: HashLine("norm", ptx)}, "no machine code for sm_90 of the module norm"},
		"unreadable":   {Code{target: 90, unreadable: errors.New("torn")}, "torn"},
	} {
		image, err := c.code.Module("norm")
		switch {
		case c.says == "" && (err != nil || string(image) != "code"):
			t.Errorf("%s: %q, error %v", name, image, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: error %v, want one that says %q", name, err, c.says)
		}
	}
}
