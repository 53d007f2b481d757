package model

import (
	"fmt"
	"slices"
	"strings"

	"specula/engine/weights"
)

// Recognise refuses a file that cannot be loaded because of what it is: no language model, one of another architecture, or
// only a part of one. Its error says what the file is and what to do. It needs the header alone, and comes before
// everything else that could be wrong with such a file: what a model must have, these files rightly lack.
func Recognise(file *weights.File) error {
	_, err := recognise(file)
	return err
}

func recognise(file *weights.File) (architecture, error) {
	kind, _, _ := file.String("general.type") // of another type: not what it should say, so it says nothing
	name := file.Architecture()
	if what, do := accessory(kind, name); what != "" {
		return architecture{}, fmt.Errorf("it is %s: %s", what, do)
	}
	arch, known := architectureOf(name)
	if name != "" && !known {
		return arch, fmt.Errorf("it is a model of the architecture %.64q: specula runs %s; choose a model of one of these", name, architectureNames())
	}
	if parts, _, _ := file.Uint("split.count"); parts > 1 {
		part, _, _ := file.Uint("split.no") // from 0
		return arch, fmt.Errorf("it is part %d of %d of a split model: join them with llama-gguf-split --merge FIRST_PART.gguf WHOLE.gguf, "+
			"and load the whole", part+1, parts)
	}
	switch {
	case name == "":
		return arch, fmt.Errorf("it does not say what model it is: general.architecture is missing; specula runs %s", architectureNames())
	case len(file.Tensors()) == 0:
		return arch, fmt.Errorf("it holds no weights, only the description of a model of the architecture %.64q: choose the file with the weights", name)
	}
	return arch, nil
}

// accessory says what a file is that goes with a model but is none that writes text; "" if it may be one.
func accessory(kind, arch string) (what, do string) {
	const own = "give the file of the model itself"
	switch {
	case kind == "mmproj", kind == "projector", kind == "clip-vision", arch == "clip":
		return "a projector (mmproj), which lets a model see or hear", own + ", which lies beside this one"
	case kind == "adapter":
		return "an adapter (LoRA), which changes another model", "merge it into that model with llama-export-lora, or " + own
	case kind == "imatrix", arch == "imatrix":
		return "an importance matrix, which helps to quantise a model", own
	case slices.Contains([]string{"eagle3", "dflash", "gemma4-assistant"}, arch):
		return fmt.Sprintf("a draft head (%s) for another model", arch),
			"heads are read from safetensors by --heads, and drafts from models of their own by --draft"
	case strings.Contains(arch, "bert"), strings.HasSuffix(arch, "-embed"), strings.HasSuffix(arch, "-embedding"), arch == "t5encoder":
		return fmt.Sprintf("a model that reads text and writes none (%.64q)", arch), "specula runs " + architectureNames()
	}
	return "", ""
}
