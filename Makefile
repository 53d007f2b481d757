# The commands a contributor needs. "make" alone lists them.

GO       ?= go
FUZZTIME ?= 30s

.PHONY: help build run demo test race bench bench-peer fuzz cover lint fmt generate tidy check

help: ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 14

build: ## build the program as ./specula, without cgo
	CGO_ENABLED=0 $(GO) build -trimpath -o specula .

run: ## chat with the demo pair
	$(GO) run .

demo: ## one answer, without the screen
	$(GO) run . run -p "What is speculative decoding?"

test: ## every test
	$(GO) test ./...

race: ## the tests of everything concurrent, under the race detector (needs a C compiler)
	.ci/race

bench: ## measure speculation on the demo pair, and the benchmarks of the packages
	$(GO) run . bench --prompts 50 --gen-tokens 64 --gamma 4
	$(GO) test -run '^$$' -bench . -benchtime 200ms ./...

bench-peer: ## time llama.cpp (from npm) and specula in turn on the same files; needs node
	engine/bench/peer/run

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

generate: ## make again what is generated: code, and the table of keys in README.md
	$(GO) generate ./...
	$(GO) test -count=1 -run '^TestReadmeHasTheKeys$$' . -update

tidy: ## bring go.mod and go.sum up to date
	$(GO) mod tidy

check: ## everything that has to pass before a change is taken
	.ci/run
