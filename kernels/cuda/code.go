package cuda

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// archives are what assemble/main.go writes. There may be none.
//
//go:embed cubin
var archives embed.FS

// targets are in ascending order. Those of one major capability share an archive, because most of their code is
// the same.
var targets = [...]int{80, 86, 89, 90, 100, 120}

// Targets returns the compute capabilities that machine code is made for: 10·major + minor, ascending.
func Targets() []int { return slices.Clone(targets[:]) }

// Archive names the file of folder cubin that has the machine code for a target.
func Archive(target int) string { return fmt.Sprintf("sm_%dx.tar.zst", target/10) }

// HashesFile names the file of an archive with the hashes of the PTX that the archive was made of, in the form
// that sha256sum reads.
const HashesFile = "ptx.sha256"

// HashLine is the line of HashesFile for a module with this PTX.
func HashLine(module, ptx string) string {
	return fmt.Sprintf("%x  %s.ptx\n", sha256.Sum256([]byte(ptx)), module)
}

// ErrNotInBuild means that a build has no machine code of any module for a target, though others may have it.
var ErrNotInBuild = errors.New("not in this build: run make cubins, and build again")

// Code is the machine code for a card: what NVIDIA's assembler makes of the PTX. It may lack modules, or all
// of them.
type Code struct {
	capability int               // of the card: 10·major + minor
	target     int               // that the code was made for; 0: no target runs on the card
	images     map[string][]byte // by module: a file of NVIDIA's format cubin
	hashes     string            // the archive's HashesFile
	unreadable error             // ErrNotInBuild, or why the archive could not be read
}

// CodeFor returns the machine code for cards of a compute capability, 10·major + minor. Such cards run code for
// targets of the same major capability that are not above their own. CodeFor takes the highest of these; if
// there is none, Module says so.
func CodeFor(capability int) *Code {
	c := &Code{capability: capability}
	for _, target := range targets {
		if target/10 == capability/10 && target <= capability {
			c.target = target
		}
	}
	if c.target != 0 {
		c.unreadable = c.read()
	}
	return c
}

// String says what the code is: "machine code for sm_90".
func (c *Code) String() string { return fmt.Sprintf("machine code for sm_%d", c.target) }

// Module returns the machine code of a module. If there is none, or if it was made of other PTX than this
// program has for the module, the error says so.
func (c *Code) Module(name string) ([]byte, error) {
	image, ok := c.images[name]
	switch {
	case c.target == 0:
		return nil, fmt.Errorf("the program has no machine code for compute capability %d.%d", c.capability/10, c.capability%10)
	case c.unreadable != nil:
		return nil, fmt.Errorf("%s: %w", c, c.unreadable)
	case !ok:
		return nil, fmt.Errorf("this build has no %s of the module %s: run make cubins, and build again", c, name)
	}
	ptx, err := PTX(name)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(c.hashes, HashLine(name, ptx)) {
		return nil, fmt.Errorf("the %s of the module %s was made of other PTX: run make cubins, and build again", c, name)
	}
	return image, nil
}

// read fills in images and hashes from the archive.
func (c *Code) read() error {
	compressed, err := archives.ReadFile(path.Join("cubin", Archive(c.target)))
	if err != nil {
		return ErrNotInBuild
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer decoder.Close()
	content, err := decoder.DecodeAll(compressed, nil)
	if err != nil {
		return err
	}
	c.images = map[string][]byte{}
	folder := fmt.Sprintf("sm_%d/", c.target)
	for files := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		file, mine := strings.CutPrefix(header.Name, folder)
		if !mine && header.Name != HashesFile {
			continue
		}
		data, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if mine {
			c.images[strings.TrimSuffix(file, ".cubin")] = data
		} else {
			c.hashes = string(data)
		}
	}
}
