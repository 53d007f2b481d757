// Package assets holds what is built into the program: the demo model pair, trained heads, the
// prompts of the benchmark and the exam of the pair.
//
// The pair is two GGUF files, pair/target.gguf and pair/draft.gguf, and the notice pair/NOTICE,
// which must travel with them. To replace the pair, put two files of the same names there, change
// the notice, and build. No code of the program knows their size, shape or vocabulary. But tests compare
// the pair with the files in assets/reference, so make these files again (assets/training/reference.py). Both
// models must have the same tokenizer, and the target's file should carry its chat template.
//
// Trained heads for the target lie in pair/heads, if there are any. They fit this one target. With
// a new target, remove them or train new ones.
//
// The bytes of all these files become part of the program. So give a pair of more than some tens of
// megabytes by --target and --draft instead.
package assets

import (
	"embed"
	"strings"
)

var (
	//go:embed pair/target.gguf
	target []byte
	//go:embed pair/draft.gguf
	draft []byte
	//go:embed pair/heads
	heads embed.FS
	//go:embed prompts.txt
	prompts string
	//go:embed prompts-trained.txt
	trainedPrompts string
	//go:embed sets/smalltalk.txt
	smalltalk string
	//go:embed sets/explanations.txt
	explanations string
	//go:embed sets/copying.txt
	copying string
	//go:embed sets/random.txt
	random string
	//go:embed training/exam/program.txt
	examProgram string
	//go:embed training/exam/general.txt
	examGeneral string
	//go:embed training/exam/copying.txt
	examCopying string
	//go:embed training/exam/counting.txt
	examCounting string
)

// Target is the GGUF file of the large model. All callers share the bytes, so nobody may write to them.
func Target() []byte { return target }

// Draft is the GGUF file of the small model. Nobody may write to its bytes either.
func Draft() []byte { return draft }

// HeadFile is a file of trained heads for the target.
type HeadFile struct {
	Name    string // the proposer that uses it: "eagle" or "medusa"
	Weights []byte // safetensors
	Config  []byte // the config.json beside it
}

// Heads returns the trained heads that are built in, at most one set for each kind of proposer.
func Heads() (list []HeadFile) {
	for _, name := range []string{"eagle", "medusa"} {
		weights, err := heads.ReadFile("pair/heads/" + name + "/model.safetensors")
		if err != nil {
			continue
		}
		// A config.json may be missing: then the sizes come from the tensors and the target.
		config, _ := heads.ReadFile("pair/heads/" + name + "/config.json")
		list = append(list, HeadFile{name, weights, config})
	}
	return list
}

// Prompts returns the prompts of the benchmark. The pair was not trained on any of them.
func Prompts() []string { return ParsePrompts(prompts) }

// TrainedPrompts returns prompts of which most were in the training data of the pair, word for word.
// So drafts are accepted more often in replies to them than in a chat.
func TrainedPrompts() []string { return ParsePrompts(trainedPrompts) }

// Set holds the prompts of one kind.
type Set struct {
	Name    string
	Prompts []string
}

// Sets are the kinds of prompt that draft lengths are compared on.
func Sets() []Set {
	return []Set{
		{"small talk", ParsePrompts(smalltalk)}, {"explanations", ParsePrompts(explanations)},
		{"copying", ParsePrompts(copying)}, {"random text", ParsePrompts(random)},
	}
}

// SetNames are the names of Sets.
func SetNames() []string {
	var names []string
	for _, set := range Sets() {
		names = append(names, set.Name)
	}
	return names
}

// Paper is one part of the exam of a pair, in the format of package engine/exam.
type Paper struct{ Name, Text string }

// Exam returns the exam of the built-in pair: questions that were not in its training data.
func Exam() []Paper {
	return []Paper{{"program", examProgram}, {"general", examGeneral}, {"copying", examCopying}, {"counting", examCounting}}
}

// ParsePrompts reads a list with one prompt per line. It skips empty lines and lines that begin with #.
func ParsePrompts(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			list = append(list, line)
		}
	}
	return list
}
