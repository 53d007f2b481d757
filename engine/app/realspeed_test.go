package app

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"specula/assets"
	"specula/engine/remote/chaos"
)

// lane is one way to write the same replies.
type lane struct {
	*Conversation
	tokens, rounds int
	ms             float64
}

func (l *lane) write(t *testing.T, prompt string) {
	t.Helper()
	_, rounds := ended(t, l.Conversation, prompt)
	for i := range rounds {
		l.ms += rounds[i].MS()
		l.tokens += len(rounds[i].Committed())
	}
	l.rounds += len(rounds)
}

func (l *lane) perToken() float64 { return l.ms / float64(l.tokens) }

// Speeds over a real llama-server at the round trips of SPECULA_SPEEDS, in milliseconds, beside what the formula of
// a round predicts from the speeds without a delay. It is a measurement, for a machine that does nothing else.
func TestSpeedsAcrossADelay(t *testing.T) {
	list := os.Getenv("SPECULA_SPEEDS")
	if list == "" {
		t.Skip("a measurement: SPECULA_SPEEDS=1,20,100 runs it")
	}
	url := startReal(t, realServer(t), "-np", "9", "-c", "9216")
	prompts := assets.Prompts()[:50]
	lanes := func(address string) (plain, fixed, aware *lane) {
		set := []string{"remote", address, "temperature", "0", "max-tokens", "40"}
		return &lane{Conversation: opened(t, append(set, "speculate", "off")...)}, &lane{Conversation: opened(t, append(set, "gamma-rule", "fixed", "gamma", "4")...)},
			&lane{Conversation: opened(t, append(set, "gamma-rule", "cost-aware")...)}
	}
	const few = 12 // prompts for the lane with a fixed γ, whose replies take longest
	near, fixedNear, _ := lanes(url)
	for _, p := range prompts[:few] {
		near.write(t, p)
		fixedNear.write(t, p)
	}
	t1, round := near.perToken(), fixedNear.ms/float64(fixedNear.rounds)
	each := float64(fixedNear.tokens) / float64(fixedNear.rounds)
	t.Logf("no delay: plain stream %.2f ms a token; γ 4: %.2f ms a round of %.2f tokens, %.2f of the stream's speed", t1, round, each, t1*each/round)
	for _, text := range strings.Split(list, ",") {
		ms, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		relay, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go chaos.Relay(relay, strings.TrimPrefix(url, "http://"), time.Duration(ms*float64(time.Millisecond)))
		plain, fixed, aware := lanes("http://" + relay.Addr().String())
		var plainFew float64
		for i, p := range prompts {
			plain.write(t, p)
			aware.write(t, p)
			if i < few {
				fixed.write(t, p)
				plainFew = plain.perToken()
			}
		}
		length := float64(plain.tokens) / float64(len(prompts))
		predicted := (t1 + ms/length) / ((round + ms) / each)
		t.Logf("%g ms: plain stream %.2f ms a token; γ 4 %.2f of its speed, predicted %.2f; cost-aware %.3f over %d replies, %d of %d rounds",
			ms, plain.perToken(), plainFew/fixed.perToken(), predicted, plain.perToken()/aware.perToken(), len(prompts), aware.rounds, aware.tokens)
		_ = relay.Close()
	}
}
