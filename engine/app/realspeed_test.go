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
	"slices"
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
	most              int // tokens of a reply by that route
	tokens, rounds    int
	drafted, accepted int
	ms                [][]float64 // by reply: the times that it took
}

// write writes reply i once more.
func (l *lane) write(t *testing.T, i int, prompt string) {
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
	ms := time.Since(began).Seconds() * 1000
	if i == len(l.ms) {
		l.ms = append(l.ms, nil)
	}
	l.ms[i] = append(l.ms[i], ms)
}

// median is the median of the times of reply i: so it does not count if the machine does something else during
// one of them.
func (l *lane) median(i int) float64 {
	return slices.Sorted(slices.Values(l.ms[i]))[len(l.ms[i])/2]
}

// medians is the sum of the medians of the first n replies.
func (l *lane) medians(n int) (sum float64) {
	for i := range n {
		sum += l.median(i)
	}
	return sum
}

// all is the sum of all times.
func (l *lane) all() (sum float64) {
	for _, list := range l.ms {
		for _, ms := range list {
			sum += ms
		}
	}
	return sum
}

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
// All replies are written SPECULA_REPEATS times, each time by conversations that have learned nothing, and the median
// of the times of a reply counts. All times together are told, too: a draft that one repeat tries shows there only.
// It is a measurement, for a machine that does nothing else. SPECULA_SERVER_MODEL names another model's GGUF file and
// SPECULA_PROPOSER another proposer; SPECULA_TOKENS is the most tokens of a reply and SPECULA_REPLIES their number.
func TestSpeedsAcrossADelay(t *testing.T) {
	list := os.Getenv("SPECULA_SPEEDS")
	if list == "" {
		t.Skip("a measurement: SPECULA_SPEEDS=1,20,100 runs it")
	}
	number := func(text string) float64 {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	asked := func(name, usual string) int { return int(number(cmp.Or(os.Getenv(name), usual))) }
	file, most, repeats := os.Getenv("SPECULA_SERVER_MODEL"), asked("SPECULA_TOKENS", "40"), asked("SPECULA_REPEATS", "5")
	url := startWith(t, realServer(t), file, "-np", "9", "-c", "9216")
	prompts := assets.Prompts()[:asked("SPECULA_REPLIES", "50")]
	set := []string{"remote.timeout", "3600", "temperature", "0", "max-tokens", strconv.Itoa(most), "proposer", cmp.Or(os.Getenv("SPECULA_PROPOSER"), "draft")}
	if file != "" {
		draft := filepath.Join(t.TempDir(), "draft.gguf")
		if err := os.WriteFile(draft, assets.Draft(), 0o600); err != nil {
			t.Fatal(err)
		}
		set = append(set, "vocabulary", file, "draft", draft)
	}
	talk := func(address string, values ...string) *Conversation {
		return opened(t, append(append(values, set...), "remote", address)...)
	}
	stream, fixed, rule := []string{"speculate", "off"}, []string{"gamma-rule", "fixed", "gamma", "4"}, []string{"gamma-rule", "cost-aware"}
	few := (len(prompts) + 3) / 4 // replies of the lanes with a fixed γ, which take longest
	near, fixedNear := &lane{Conversation: talk(url, stream...)}, &lane{Conversation: talk(url, fixed...)}
	for range repeats {
		for i, p := range prompts[:few] {
			near.write(t, i, p)
			fixedNear.write(t, i, p)
		}
	}
	t1, round := near.medians(few)/float64(near.tokens)*float64(repeats), fixedNear.medians(few)/float64(fixedNear.rounds)*float64(repeats)
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
		bare, plain, aware, four := &lane{address: address, most: most}, &lane{}, &lane{}, &lane{Conversation: talk(address, fixed...)}
		for repeat := range repeats {
			plain.Conversation, aware.Conversation = talk(address, stream...), talk(address, rule...)
			for i, p := range prompts {
				turns := []*lane{bare, plain, aware}
				for k := range turns {
					turns[(i+repeat+k)%len(turns)].write(t, i, p) // who comes first finds less in the server's caches, so each does in turn
				}
				if i < few && repeat == 0 {
					four.write(t, i, p)
				}
			}
		}
		n, kept := len(prompts), 0
		for i := range prompts {
			if plain.median(i) >= 0.97*aware.median(i) {
				kept++
			}
		}
		length := float64(plain.tokens) / float64(n*repeats)
		predicted := (t1 + ms/length) / ((round + ms) / each)
		t.Logf("%g ms: plain stream %.2f ms a token, %.3f of the bare one's speed; γ 4 %.2f of the plain one's, predicted %.2f",
			ms, plain.medians(n)/length/float64(n), bare.medians(n)/plain.medians(n), plain.medians(few)/four.medians(few), predicted)
		t.Logf("%g ms: cost-aware %.3f of the plain stream's speed over %d replies × %d, at least 0.97 in %d of them; %.3f by all times; %d of %d rounds drafted, %d of %d tokens",
			ms, plain.medians(n)/aware.medians(n), n, repeats, kept, plain.all()/aware.all(), aware.drafted, aware.rounds, aware.accepted, aware.tokens)
		_ = relay.Close()
	}
}
