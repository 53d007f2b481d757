package sim

import (
	"fmt"
	"slices"
	"strings"
)

// requirement is the first version of PTX and the first target (sm_…) that have an instruction, or a
// modifier of it.
type requirement struct {
	name      string
	modifier  string // "": the instruction itself
	ptx, cuda int
}

// requirements lists the instructions that not all versions and targets have. Source: NVIDIA, PTX ISA,
// the sections "PTX ISA Notes" and "Target ISA Notes" of each instruction.
var requirements = []requirement{
	{"shfl", "sync", 60, 30}, {"vote", "sync", 60, 30}, {"bar", "warp", 60, 30}, {"barrier", "", 60, 30},
	{"match", "", 60, 70},
	{"redux", "", 70, 80}, {"fence", "", 60, 70}, {"nanosleep", "", 63, 70}, {"brx", "", 60, 30},
	{"lop3", "", 43, 50}, {"shf", "", 31, 32}, {"dp4a", "", 50, 61},
	{"cp", "async", 70, 80}, {"ldmatrix", "", 65, 75},
	{"mma", "m16n8k16", 70, 80}, {"mma", "m16n8k8", 65, 75}, {"mma", "m16n8k32", 70, 80},
	{"mma", "bf16", 70, 80},
	{"cvt", "bf16", 78, 90}, {"cvt", "f16x2", 70, 80}, {"cvt", "bf16x2", 70, 80},
	{"ld", "nc", 31, 32}, {"ld", "relaxed", 60, 70}, {"ld", "acquire", 60, 70}, {"st", "relaxed", 60, 70},
	{"st", "release", 60, 70},
	{"atom", "relaxed", 60, 70}, {"atom", "acquire", 60, 70}, {"atom", "release", 60, 70},
	{"atom", "acq_rel", 60, 70},
	{"red", "relaxed", 60, 70}, {"red", "release", 60, 70},
}

// allowed checks the version and the target of the module.
func (c *compiler) allowed() error {
	m := c.kernel.module
	for _, r := range requirements {
		if r.name != c.in.name || r.modifier != "" && !slices.Contains(c.in.modifier, r.modifier) {
			continue
		}
		switch c.in.fullName() { // older than the other conversions of bf16
		case "cvt.rn.bf16.f32":
			r.ptx, r.cuda = 70, 80
		case "cvt.f32.bf16":
			r.ptx, r.cuda = 71, 80
		}
		if err := m.atLeast(r.ptx, r.cuda); err != nil {
			return err
		}
	}
	for _, modifier := range c.in.modifier {
		var err error
		switch {
		case strings.HasPrefix(modifier, "L1::"):
			err = m.atLeast(74, 70)
		case modifier == "L2::256B":
			err = m.atLeast(74, 80)
		case strings.HasPrefix(modifier, "L2::"):
			err = m.atLeast(74, 75)
		case modifier == "shared::cta":
			err = m.atLeast(78, 30)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Module) atLeast(ptx, target int) error {
	if m.version < ptx {
		return fmt.Errorf("needs PTX %d.%d, the module has .version %d.%d", ptx/10, ptx%10,
			m.version/10, m.version%10)
	}
	if m.target < target {
		return fmt.Errorf("needs sm_%d, the module has .target sm_%d", target, m.target)
	}
	return nil
}
