package app

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"specula/assets"
	"specula/engine/event"
)

// llamaServer is the program that make bench-peer builds; LLAMA_SERVER names another one.
func llamaServer() string {
	if path := os.Getenv("LLAMA_SERVER"); path != "" {
		return path
	}
	return filepath.Join("..", "..", ".peer", "llama.cpp", "build", "bin", "llama-server")
}

// realServer returns the path of llama-server, or skips the test.
func realServer(t *testing.T) string {
	t.Helper()
	path := llamaServer()
	if _, err := exec.LookPath(path); err != nil {
		t.Skip("SKIPPED: there is no llama-server; make bench-peer builds one, and LLAMA_SERVER names one")
	}
	return path
}

// A real llama-server writes the same greedy text by its own stream and by drafts that are made here. Each of 50
// prompts is drafted for by one of three proposers with one γ from 1 to 8; with SPECULA_ALL_PAIRS, by all proposers
// with every γ. SPECULA_SERVER_MODEL names another model's GGUF file.
func TestGreedyTextOverARealServer(t *testing.T) {
	path := realServer(t)
	all, file := os.Getenv("SPECULA_ALL_PAIRS") != "", os.Getenv("SPECULA_SERVER_MODEL")
	prompts := assets.Prompts()[:50]
	url := startWith(t, path, file, "-np", "9", "-c", "9216")
	set := []string{"remote", url, "temperature", "0", "max-tokens", cmp.Or(os.Getenv("SPECULA_TOKENS"), "32"), "gamma-rule", "fixed", "remote.timeout", "3600"}
	if file != "" {
		draft := filepath.Join(t.TempDir(), "draft.gguf")
		if err := os.WriteFile(draft, assets.Draft(), 0o600); err != nil {
			t.Fatal(err)
		}
		set = append(set, "vocabulary", file, "draft", draft)
	}
	plain := opened(t, append(set, "speculate", "off", "logprobs", "2")...)
	var want []event.ReplyEnded
	var margins [][]float64
	for _, p := range prompts {
		end, rounds := ended(t, plain, p) // the server's own stream
		want, margins = append(want, end), append(margins, leads(rounds))
	}
	proposers := []string{"draft", "ngram", "suffix"}
	asked, equal := 0, 0
	for pair := range len(proposers) * 8 {
		proposer, gamma := proposers[pair%3], 1+pair/3
		t.Run(fmt.Sprintf("%s, γ %d", proposer, gamma), func(t *testing.T) {
			there := opened(t, append(set, "proposer", proposer, "gamma", strconv.Itoa(gamma))...)
			same, of, accepted, began := 0, 0, 0, time.Now()
			for i, p := range prompts {
				if !all && i%24 != pair {
					continue
				}
				got, _ := ended(t, there, p)
				of, accepted = of+1, accepted+got.Totals.Accepted
				if slices.Equal(got.IDs, want[i].IDs) && got.Reason == want[i].Reason {
					same++
					continue
				}
				at := 0
				for at < min(len(got.IDs), len(want[i].IDs)) && got.IDs[at] == want[i].IDs[at] {
					at++
				}
				lead := -1.0
				if at < len(margins[i]) {
					lead = margins[i][at]
				}
				t.Errorf("%q: parts at token %d, where the best token led by %.4f: %q, want %q", p, at, lead, got.Text, want[i].Text)
			}
			t.Logf("%d of %d equal, %d draft tokens accepted, %.0f s", same, of, accepted, time.Since(began).Seconds())
			asked, equal = asked+of, equal+same
		})
	}
	t.Logf("in all %d of %d equal", equal, asked)
}

// leads are the differences of log-probability between the best two tokens of each place.
func leads(rounds []event.Round) (list []float64) {
	for _, r := range rounds {
		for _, token := range r.Committed() {
			lead := -1.0
			if len(token.LogProbs) > 1 {
				lead = token.LogProbs[0].P - token.LogProbs[1].P
			}
			list = append(list, lead)
		}
	}
	return list
}

// startReal starts a llama-server with the embedded target, and returns its address once it listens.
func startReal(t *testing.T, path string, flags ...string) string {
	t.Helper()
	return startWith(t, path, "", flags...)
}

// startWith starts a llama-server with the model in file; "": the embedded target.
func startWith(t *testing.T, path, file string, flags ...string) string {
	t.Helper()
	if file == "" {
		file = filepath.Join(t.TempDir(), "target.gguf")
		if err := os.WriteFile(file, assets.Target(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(t.Context(), path, "-m", file, "--host", "127.0.0.1", "--port", port, "-t", "1", "--poll", "0",
		"-c", "4096", "-sps", "0.01", "--slots", "--props", "--metrics", "--no-ui")
	server.Args = append(server.Args, flags...)
	server.Env = append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Dir(path))
	log, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "listening on") {
			go func() { _, _ = io.Copy(io.Discard, log) }() // or the server would wait for a reader
			return "http://" + address
		}
	}
	t.Fatal("the server ended before it listened")
	return ""
}
