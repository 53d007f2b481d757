package main

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// encodings has each kind of instruction, with the word that GNU as 2.40 produces for its text
// (aarch64-linux-gnu-as -march=armv8.2-a+dotprod).
var encodings = []struct {
	instruction
	want uint32
}{
	{fadd(21, 10, 27), 0x4e3bd555},
	{fadd(10, 21, 4), 0x4e24d6aa},
	{fsub(21, 10, 27), 0x4ebbd555},
	{fsub(10, 21, 4), 0x4ea4d6aa},
	{fmul(21, 10, 27), 0x6e3bdd55},
	{fmul(10, 21, 4), 0x6e24deaa},
	{fdiv(21, 10, 27), 0x6e3bfd55},
	{fdiv(10, 21, 4), 0x6e24feaa},
	{fmla(21, 10, 27), 0x4e3bcd55},
	{fmla(10, 21, 4), 0x4e24ceaa},
	{fmax(21, 10, 27), 0x4e3bf555},
	{fmax(10, 21, 4), 0x4e24f6aa},
	{fcmgt(21, 10, 27), 0x6ebbe555},
	{fcmgt(10, 21, 4), 0x6ea4e6aa},
	{fadd2(21, 10, 27), 0x4e7bd555},
	{fadd2(10, 21, 4), 0x4e64d6aa},
	{fsub2(21, 10, 27), 0x4efbd555},
	{fsub2(10, 21, 4), 0x4ee4d6aa},
	{fmul2(21, 10, 27), 0x6e7bdd55},
	{fmul2(10, 21, 4), 0x6e64deaa},
	{fcmge2(21, 10, 27), 0x6e7be555},
	{fcmge2(10, 21, 4), 0x6e64e6aa},
	{add2(21, 10, 27), 0x4efb8555},
	{add2(10, 21, 4), 0x4ee486aa},
	{add(21, 10, 27), 0x4ebb8555},
	{add(10, 21, 4), 0x4ea486aa},
	{sub(21, 10, 27), 0x6ebb8555},
	{sub(10, 21, 4), 0x6ea486aa},
	{mul(21, 10, 27), 0x4ebb9d55},
	{mul(10, 21, 4), 0x4ea49eaa},
	{mulByte(21, 10, 27), 0x4e3b9d55},
	{mulByte(10, 21, 4), 0x4e249eaa},
	{zip1Byte(21, 10, 27), 0x4e1b3955},
	{zip1Byte(10, 21, 4), 0x4e043aaa},
	{insertGeneral2(21, 10), 0x4e181d55},
	{tbl(21, 10, 27), 0x4e1b0155},
	{tbl(10, 21, 4), 0x4e0402aa},
	{mla(21, 10, 27), 0x4ebb9555},
	{mla(10, 21, 4), 0x4ea496aa},
	{umax(21, 10, 27), 0x6ebb6555},
	{umax(10, 21, 4), 0x6ea466aa},
	{and(21, 10, 27), 0x4e3b1d55},
	{and(10, 21, 4), 0x4e241eaa},
	{bic(21, 10, 27), 0x4e7b1d55},
	{bic(10, 21, 4), 0x4e641eaa},
	{orr(21, 10, 27), 0x4ebb1d55},
	{orr(10, 21, 4), 0x4ea41eaa},
	{eor(21, 10, 27), 0x6e3b1d55},
	{eor(10, 21, 4), 0x6e241eaa},
	{bit(21, 10, 27), 0x6ebb1d55},
	{bit(10, 21, 4), 0x6ea41eaa},
	{fneg(21, 10), 0x6ea0f955},
	{fneg(10, 21), 0x6ea0faaa},
	{fabs(21, 10), 0x4ea0f955},
	{fabs(10, 21), 0x4ea0faaa},
	{neg(21, 10), 0x6ea0b955},
	{neg(10, 21), 0x6ea0baaa},
	{scvtf(21, 10), 0x4e21d955},
	{scvtf(10, 21), 0x4e21daaa},
	{ucvtf(21, 10), 0x6e21d955},
	{ucvtf(10, 21), 0x6e21daaa},
	{fcvtns(21, 10), 0x4e21a955},
	{fcvtns(10, 21), 0x4e21aaaa},
	{fcvtlHalf(21, 10), 0x0e217955},
	{fcvtlHalf(10, 21), 0x0e217aaa},
	{fcvtl2Half(21, 10), 0x4e217955},
	{fcvtl2Half(10, 21), 0x4e217aaa},
	{fcvtnHalf(21, 10), 0x0e216955},
	{fcvtnHalf(10, 21), 0x0e216aaa},
	{fcvtn2Half(21, 10), 0x4e216955},
	{fcvtn2Half(10, 21), 0x4e216aaa},
	{fcvtlDouble(21, 10), 0x0e617955},
	{fcvtlDouble(10, 21), 0x0e617aaa},
	{fcvtl2Double(21, 10), 0x4e617955},
	{fcvtl2Double(10, 21), 0x4e617aaa},
	{xtnShort(21, 10), 0x0e612955},
	{xtnShort(10, 21), 0x0e612aaa},
	{xtn2Short(21, 10), 0x4e612955},
	{xtn2Short(10, 21), 0x4e612aaa},
	{xtnByte(21, 10), 0x0e212955},
	{xtnByte(10, 21), 0x0e212aaa},
	{xtn2Byte(21, 10), 0x4e212955},
	{xtn2Byte(10, 21), 0x4e212aaa},
	{umaxv(21, 10), 0x6eb0a955},
	{umaxv(10, 21), 0x6eb0aaaa},
	{saddlv(21, 10), 0x4e303955},
	{saddlv(10, 21), 0x4e303aaa},
	{faddp(21, 10), 0x7e30d955},
	{faddp(10, 21), 0x7e30daaa},
	{shl(21, 10, 0), 0x4f205555},
	{shl(10, 21, 31), 0x4f3f56aa},
	{shl(21, 10, 5), 0x4f255555},
	{sshr(21, 10, 1), 0x4f3f0555},
	{sshr(10, 21, 31), 0x4f2106aa},
	{sshr(21, 10, 5), 0x4f3b0555},
	{shlByte(21, 10, 1), 0x4f095555},
	{shlByte(10, 21, 7), 0x4f0f56aa},
	{ushrByte(21, 10, 1), 0x6f0f0555},
	{ushrByte(10, 21, 7), 0x6f0906aa},
	{shl2(21, 10, 52), 0x4f745555},
	{shl2(10, 21, 11), 0x4f4b56aa},
	{sshllByte(21, 10, 0), 0x0f08a555},
	{sshllByte(10, 21, 7), 0x0f0fa6aa},
	{sshll2Byte(21, 10, 0), 0x4f08a555},
	{sshllShort(21, 10, 0), 0x0f10a555},
	{sshllShort(10, 21, 15), 0x0f1fa6aa},
	{sshll2Short(21, 10, 0), 0x4f10a555},
	{ushllByte(21, 10, 0), 0x2f08a555},
	{ushllShort(21, 10, 0), 0x2f10a555},
	{ldr(21, 10, 0), 0x3dc00155},
	{ldr(10, 21, 65520), 0x3dfffeaa},
	{ldr(31, 5, 21840), 0x3dd554bf},
	{ldr8(21, 10, 0), 0xfd400155},
	{ldr8(10, 21, 32760), 0xfd7ffeaa},
	{ldr8(31, 5, 10920), 0xfd5554bf},
	{ldr4(21, 10, 0), 0xbd400155},
	{ldr4(10, 21, 16380), 0xbd7ffeaa},
	{ldr4(31, 5, 5460), 0xbd5554bf},
	{ldr2(21, 10, 0), 0x7d400155},
	{ldr2(10, 21, 8190), 0x7d7ffeaa},
	{ldr2(31, 5, 2730), 0x7d5554bf},
	{str(21, 10, 0), 0x3d800155},
	{str(10, 21, 65520), 0x3dbffeaa},
	{str(31, 5, 21840), 0x3d9554bf},
	{str4(21, 10, 0), 0xbd000155},
	{str4(10, 21, 16380), 0xbd3ffeaa},
	{str4(31, 5, 5460), 0xbd1554bf},
	{move(21, 10), 0x4eaa1d55},
	{move(10, 21), 0x4eb51eaa},
	{shllShort(21, 10), 0x2e613955},
	{shllShort(10, 21), 0x2e613aaa},
	{shll2Short(21, 10), 0x6e613955},
	{shll2Short(10, 21), 0x6e613aaa},
	{sdot(21, 10, 27, 0), 0x4f9be155},
	{fmulElement(10, 21, 4, 0), 0x4f8492aa},
	{dup(21, 10, 0), 0x4e040555},
	{sdot(21, 10, 27, 1), 0x4fbbe155},
	{fmulElement(10, 21, 4, 1), 0x4fa492aa},
	{dup(21, 10, 1), 0x4e0c0555},
	{sdot(21, 10, 27, 2), 0x4f9be955},
	{fmulElement(10, 21, 4, 2), 0x4f849aaa},
	{dup(21, 10, 2), 0x4e140555},
	{sdot(21, 10, 27, 3), 0x4fbbe955},
	{fmulElement(10, 21, 4, 3), 0x4fa49aaa},
	{dup(21, 10, 3), 0x4e1c0555},
	{dupGeneral(21, 10), 0x4e040d55},
	{dupGeneral(10, 5), 0x4e040caa},
	{dupGeneral2(21, 10), 0x4e080d55},
	{dupGeneral2(10, 5), 0x4e080caa},
	{first(5, 10), 0x0e043d45},
	{first(10, 21), 0x0e043eaa},
	{movi(21, 0x0f), 0x4f00e5f5},
	{movi(10, 0x80), 0x4f04e40a},
	{movi(31, 0x55), 0x4f02e6bf},
	{movi(0, 0xaa), 0x4f05e540},
	{ext(21, 10, 27, 8), 0x6e1b4155},
	{ext(10, 21, 4, 15), 0x6e047aaa},
	{ldur(21, 10, 2), 0x3cc02155},
	{ldur(10, 5, 255), 0x3ccff0aa},
	{ldur(0, 1, -256), 0x3cd00020},
	{ld1r(21, 10), 0x4ddfc955},
	{ld1r(10, 5), 0x4ddfc8aa},
	{ld2(21, 10), 0x4c408955},
	{ld2(10, 5), 0x4c4088aa},
	{st2(21, 10), 0x4c008955},
	{st2(10, 5), 0x4c0088aa},
}

func TestInstructionsAreEncodedAsAnAssemblerDoes(t *testing.T) {
	for _, c := range encodings {
		if c.word != c.want {
			t.Errorf("%s is encoded as %08x, want %08x", c.text, c.word, c.want)
		}
	}
}

// emitted returns all instructions in all files, each once.
func emitted() (list []instruction) {
	seen := map[instruction]bool{}
	for _, file := range files {
		for _, f := range file.functions() {
			for _, i := range f.words {
				if !seen[i] {
					seen[i] = true
					list = append(list, i)
				}
			}
		}
	}
	return list
}

// kind returns an instruction without register numbers, indices and constants.
func kind(i instruction) string {
	text := regexp.MustCompile(`\b([vxwqdsh])\d+`).ReplaceAllString(i.text, "$1")
	return regexp.MustCompile(`#[-x0-9a-f]+|\[\d+\]`).ReplaceAllString(text, "#")
}

func TestEveryKindOfInstructionIsCompared(t *testing.T) {
	compared := map[string]bool{}
	for _, c := range encodings {
		compared[kind(c.instruction)] = true
	}
	for _, i := range emitted() {
		if k := kind(i); !compared[k] {
			compared[k] = true
			t.Errorf("%q is like none of the instructions that were compared with an assembler", i.text)
		}
	}
}

func TestAssemblerAgreesOnAllThatIsWritten(t *testing.T) {
	const assembler = "aarch64-linux-gnu-as"
	if _, err := exec.LookPath(assembler); err != nil {
		t.Skipf("there is no %s (Debian: binutils-aarch64-linux-gnu), so only the instructions of the table were compared", assembler)
	}
	list := emitted()
	for _, c := range encodings {
		list = append(list, c.instruction)
	}
	words := assemble(t, assembler, list)
	for k, i := range list {
		if words[k] != i.word {
			t.Errorf("%s is encoded as %08x, want %08x", i.text, i.word, words[k])
		}
	}
	t.Logf("%s agrees on %d instructions", assembler, len(list))
}

// assemble returns the words that an assembler produces for the texts.
func assemble(t *testing.T, assembler string, list []instruction) []uint32 {
	t.Helper()
	var text strings.Builder
	for _, i := range list {
		text.WriteString(i.text + "\n")
	}
	source, object := filepath.Join(t.TempDir(), "a.s"), filepath.Join(t.TempDir(), "a.o")
	if err := os.WriteFile(source, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(assembler, "-march=armv8.2-a+dotprod", "-o", object,
		source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := file.Section(".text").Data()
	if err != nil || len(data) != 4*len(list) {
		t.Fatalf("%d bytes for %d instructions: %v", len(data), len(list), err)
	}
	words := make([]uint32, len(list))
	for k := range words {
		words[k] = binary.LittleEndian.Uint32(data[4*k:])
	}
	return words
}
