package app

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"specula/assets"
	"specula/engine/remote/chaos"
)

// lane is one way to write the same replies. Its time is that of whole replies, from the question to the end.
type lane struct {
	*Conversation     // nil: the server's own chat route is asked, without this program
	address           string
	most              int // of the tokens of a reply of that route
	tokens, rounds    int
	drafted, accepted int
	ms                float64
}

func (l *lane) write(t *testing.T, prompt string) {
	t.Helper()
	began := time.Now()
	if l.Conversation == nil {
		bareReply(t, l.address, prompt, l.most)
	} else {
		end, rounds := ended(t, l.Conversation, prompt)
		l.tokens, l.rounds = l.tokens+len(end.IDs), l.rounds+len(rounds)
		for i := range rounds {
			l.accepted += rounds[i].Accepted
			if len(rounds[i].Draft) > 0 {
				l.drafted++
			}
		}
	}
	l.ms += time.Since(began).Seconds() * 1000
}

func (l *lane) perToken() float64 { return l.ms / float64(l.tokens) }

// bareReply reads a streamed reply of the server's chat route, as any client does.
func bareReply(t *testing.T, address, prompt string, most int) {
	t.Helper()
	question, err := json.Marshal(map[string]any{"messages": []map[string]string{{"role": "user", "content": prompt}}, "max_tokens": most, "temperature": 0, "stream": true})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(address+"/v1/chat/completions", "application/json", bytes.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	pieces := 0
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data: {") {
			pieces++
		}
	}
	if pieces < 2 {
		t.Fatalf("a reply of %d pieces", pieces)
	}
}

// Speeds over a real llama-server at the round trips of SPECULA_SPEEDS, in milliseconds: the server's bare stream, the
// stream as read here, and the rule cost-aware, in turns, beside γ 4 and what the formula of a round predicts for it.
// It is a measurement, for a machine that does nothing else. SPECULA_SERVER_MODEL names another model's GGUF file and
// SPECULA_PROPOSER another proposer; SPECULA_TOKENS is the most tokens of a reply and SPECULA_REPLIES their number.
func TestSpeedsAcrossADelay(t *testing.T) {
	list := os.Getenv("SPECULA_SPEEDS")
	if list == "" {
		t.Skip("a measurement: SPECULA_SPEEDS=1,20,100 runs it")
	}
	file, most := os.Getenv("SPECULA_SERVER_MODEL"), cmp.Or(os.Getenv("SPECULA_TOKENS"), "40")
	number := func(text string) float64 {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	url := startWith(t, realServer(t), file, "-np", "9", "-c", "9216")
	prompts := assets.Prompts()[:int(number(cmp.Or(os.Getenv("SPECULA_REPLIES"), "50")))]
	set := []string{"temperature", "0", "max-tokens", most, "proposer", cmp.Or(os.Getenv("SPECULA_PROPOSER"), "draft")}
	if file != "" {
		draft := filepath.Join(t.TempDir(), "draft.gguf")
		if err := os.WriteFile(draft, assets.Draft(), 0o600); err != nil {
			t.Fatal(err)
		}
		set = append(set, "vocabulary", file, "draft", draft)
	}
	talk := func(address string, values ...string) *lane {
		return &lane{Conversation: opened(t, append(append(values, set...), "remote", address)...)}
	}
	fixed := []string{"gamma-rule", "fixed", "gamma", "4"}
	few := (len(prompts) + 3) / 4 // prompts for the lanes with a fixed γ, whose replies take longest
	near, fixedNear := talk(url, "speculate", "off"), talk(url, fixed...)
	for _, p := range prompts[:few] {
		near.write(t, p)
		fixedNear.write(t, p)
	}
	t1, round := near.perToken(), fixedNear.ms/float64(fixedNear.rounds)
	each := float64(fixedNear.tokens) / float64(fixedNear.rounds)
	t.Logf("no delay: plain stream %.2f ms a token; γ 4: %.2f ms a round of %.2f tokens, %.2f of the stream's speed", t1, round, each, t1*each/round)
	for _, text := range strings.Split(list, ",") {
		ms := number(text)
		relay, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go chaos.Relay(relay, strings.TrimPrefix(url, "http://"), time.Duration(ms*float64(time.Millisecond)))
		address := "http://" + relay.Addr().String()
		bare, plain, four := &lane{address: address, most: int(number(most))}, talk(address, "speculate", "off"), talk(address, fixed...)
		aware := talk(address, "gamma-rule", "cost-aware")
		var plainFew float64
		for i, p := range prompts {
			turns := []*lane{bare, plain, aware}
			for k := range turns {
				turns[(i+k)%len(turns)].write(t, p) // who comes first finds less in the server's caches, so each does in turn
			}
			if i < few {
				four.write(t, p)
				plainFew = plain.perToken()
			}
		}
		length := float64(plain.tokens) / float64(len(prompts))
		predicted := (t1 + ms/length) / ((round + ms) / each)
		t.Logf("%g ms: plain stream %.2f ms a token, %.3f of the bare one's speed; γ 4 %.2f of the plain one's, predicted %.2f; cost-aware %.3f over %d replies, %d of %d rounds drafted, %d of %d tokens",
			ms, plain.perToken(), bare.ms/plain.ms, plainFew/four.perToken(), predicted, plain.ms/aware.ms, len(prompts), aware.drafted, aware.rounds, aware.accepted, aware.tokens)
		_ = relay.Close()
	}
}
