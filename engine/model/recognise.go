package model

import (
	"fmt"
	"slices"
	"strings"

	"specula/engine/weights"
)

// Recognise refuses a file that is not a complete language model of a supported architecture: an
// accessory, another architecture, or a part of a model. The error says what the file is and what to
// do. Recognise reads only the header. Call it before other checks: such a file lacks much that a model
// must have, and an error about that would mislead.
func Recognise(file *weights.File) error {
	_, err := recognise(file)
	return err
}

func recognise(file *weights.File) (architecture, error) {
	kind, _, _ := file.String("general.type") // an error means that the value is no string; then kind is ""
	name := file.Architecture()
	if what, do := accessory(kind, name); what != "" {
		return architecture{}, fmt.Errorf("it is %s: %s", what, do)
	}
	arch, known := architectureOf(name)
	if name != "" && !known {
		return arch, fmt.Errorf("it is a model of the architecture %.64q: specula runs %s; choose a model of one of these", name, architectureNames())
	}
	if parts, _, _ := file.Uint("split.count"); parts > 1 && file.Parts() == 1 {
		part, _, _ := file.Uint("split.no") // counted from 0
		return arch, fmt.Errorf("it is part %d of %d of a split model, and its name does not say so: name the parts NAME-%05d-of-%05d.gguf, "+
			"in one folder", part+1, parts, part+1, parts)
	}
	switch {
	case name == "":
		return arch, fmt.Errorf("it does not say what model it is: general.architecture is missing; specula runs %s", architectureNames())
	case len(file.Tensors()) == 0:
		return arch, fmt.Errorf("it holds no weights, only the description of a model of the architecture %.64q: choose the file with the weights", name)
	}
	return arch, nil
}

// accessory recognises files that belong to a model but do not write text. It returns what the file is
// and what to do, or "" if the file may be a language model.
func accessory(kind, arch string) (what, do string) {
	const own = "give the file of the model itself"
	switch {
	case kind == "mmproj", kind == "projector", kind == "clip-vision", arch == "clip":
		return "a projector (mmproj), which lets a model see or hear", own + ", which lies beside this one"
	case kind == "adapter":
		return "an adapter (LoRA), which changes another model", "merge it into that model with llama-export-lora, or " + own
	case kind == "imatrix", arch == "imatrix":
		return "an importance matrix, which helps to quantise a model", own
	case arch == gemma4Assistant().name:
		return "a drafter (gemma4-assistant), which reads the keys of a Gemma 4 model", "give it by --draft, and that model by --target"
	case slices.Contains([]string{"eagle3", "dflash"}, arch):
		return fmt.Sprintf("a draft head (%s) for another model", arch),
			"heads are read from safetensors by --heads, and drafts from models of their own by --draft"
	case strings.Contains(arch, "bert"), strings.HasSuffix(arch, "-embed"), strings.HasSuffix(arch, "-embedding"), arch == "t5encoder":
		return fmt.Sprintf("a model that reads text and writes none (%.64q)", arch), "specula runs " + architectureNames()
	}
	return "", ""
}
