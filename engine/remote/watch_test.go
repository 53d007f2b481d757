package remote

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"specula/engine/event"
	"specula/engine/sample"
)

// watched reads a whole reply from a stream, which arrives piece bytes at a time.
func watched(t *testing.T, kind Kind, stream string, piece int) ([]Seen, *Watch, error) {
	t.Helper()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for rest := stream; rest != ""; {
			n := min(len(rest), piece)
			_, _ = w.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
	})
	s := &Server{kind: kind, model: "demo", context: 500, vocab: 4100, base: "http://h", http: &http.Client{Transport: direct{h}}, options: Options{Limit: 1 << 40}}
	w, err := s.NewTarget(4100).Watch(t.Context(), 1, sample.Params{TopP: 1}, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var list []Seen
	for len(list) < 1000 {
		seen, err := w.Next()
		if err != nil {
			return list, w, err
		}
		if list = append(list, seen); seen.Ended {
			return list, w, nil
		}
	}
	t.Fatal("no end")
	return nil, nil, nil
}

// A recorded stream of vLLM 0.32.0: each piece is a round, and the numbers of drafted tokens come at the
// end. vLLM's list has no rounds without a draft. However the stream is cut, the sums equal vLLM's.
func TestWatchedRoundsOfARecordedVLLM(t *testing.T) {
	for name, want := range map[string]struct{ sizes, accepted, drafted []int }{
		"draft": {[]int{1, 5, 5, 5, 5, 3}, []int{4, 4, 4, 4, 4}, []int{4, 4, 4, 4, 4}},
		"ngram": {[]int{1, 1, 1, 7, 7, 7, 2, 1}, []int{6, 6, 6, 1, 1}, []int{6, 6, 6, 6, 6}},
	} {
		stream, err := os.ReadFile("testdata/vllm-" + name + ".sse")
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range []int{1, 7, 100, 1 << 20} {
			list, w, err := watched(t, VLLM, string(stream), piece)
			if err != nil {
				t.Fatal(err)
			}
			var sizes []int
			for _, s := range list {
				if len(s.Tokens) > 0 {
					sizes = append(sizes, len(s.Tokens))
				}
				if s.Drafted != event.Untold || s.Accepted != max(0, len(s.Tokens)-1) {
					t.Errorf("%s: %+v before the server told what it drafted", name, s)
				}
			}
			steps, told, exact := w.Steps()
			var accepted, drafted []int
			for _, s := range steps {
				accepted, drafted = append(accepted, s.Kept), append(drafted, s.Drafted)
			}
			if !told || !exact || !slices.Equal(sizes, want.sizes) || !slices.Equal(accepted, want.accepted) || !slices.Equal(drafted, want.drafted) {
				t.Errorf("%s: pieces of %v tokens, rounds %+v, exact %v", name, sizes, steps, exact)
			}
			if last := steps[len(steps)-1].Round; last != len(sizes)-1 || steps[0].Round != len(sizes)-len(steps) {
				t.Errorf("%s: rounds stand at %+v", name, steps)
			}
		}
	}
	died, err := os.ReadFile("testdata/vllm-died.sse")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := watched(t, VLLM, string(died), 100); err == nil || !strings.Contains(err.Error(), "EngineCore") {
		t.Errorf("an engine that died, and [DONE]: %v", err)
	}
}

// A slow reader gets rounds merged. vLLM's list tells them apart, if it fits the tokens that came.
func TestMergedPiecesOfVLLM(t *testing.T) {
	const draftsOfFour = `"per_step_drafted":[4,4,4]`
	for accepted, want := range map[string]struct {
		exact bool
		steps []Step
	}{
		"2,1,0": {true, []Step{{1, 8, 3, []int{2, 1}}, {2, 4, 0, nil}}},
		"2,1,4": {true, []Step{{1, 8, 3, []int{2, 1}}, {2, 4, 4, nil}}}, // the reply ended in the last one
		"0,4,0": {false, nil},                                           // the first token is of no round
		"3,4,0": {false, nil},
	} {
		stream := `data: {"model":"demo","choices":[{"token_ids":[1]}]}` + "\n\n" + `data: {"model":"demo","choices":[{"token_ids":[2,3,4,5,6]}]}` + "\n\n" +
			`data: {"model":"demo","choices":[{"token_ids":[7]}]}` + "\n\n" +
			`data: {"model":"demo","choices":[],"metrics":{"speculative_decoding":{"per_step_accepted":[` + accepted + `],` + draftsOfFour + `}}}` + "\n\n"
		_, w, err := watched(t, VLLM, stream, 100)
		if err != nil {
			t.Fatal(err)
		}
		steps, told, exact := w.Steps()
		if !told || exact != want.exact || exact && !reflect.DeepEqual(steps, want.steps) {
			t.Errorf("accepted %s: %+v, exact %v; want %+v, %v", accepted, steps, exact, want.steps, want.exact)
		}
	}
}

// SGLang, by its documented fields: running counts, with all ids so far or only the new ones. Two rounds
// in one piece cannot be separated.
func TestWatchedRoundsOfSGLang(t *testing.T) {
	for _, incremental := range []bool{false, true} {
		stream, all := "", []string{}
		for _, p := range []struct {
			ids                  []string
			steps, kept, drafted int
			reason               string
		}{
			{[]string{"5"}, 0, 0, 0, "null"}, {[]string{"6", "7", "8"}, 1, 2, 3, "null"}, {[]string{"9"}, 2, 2, 6, "null"},
			{[]string{"10", "11", "12"}, 4, 3, 12, "null"}, {[]string{"13", "14"}, 5, 6, 15, `{"type":"length"}`},
		} {
			ids := p.ids
			if all = append(all, ids...); !incremental {
				ids = all
			}
			stream += fmt.Sprintf(`data: {"text":"x","output_ids":[%s],"meta_info":{"finish_reason":%s,"completion_tokens":%d,"spec_verify_ct":%d,"spec_num_correct_drafts":%d,"spec_num_proposed_drafts":%d}}`+"\n\n",
				strings.Join(ids, ","), p.reason, len(all), p.steps, p.kept, p.drafted)
		}
		list, _, err := watched(t, SGLang, stream+"data: [DONE]\n\n", 9)
		want := []Seen{{Tokens: []int32{5}}, {Tokens: []int32{6, 7, 8}, Accepted: 2, Drafted: 3, Kept: 2}, {Tokens: []int32{9}, Drafted: 3},
			{Tokens: []int32{10, 11, 12}, Drafted: 6, Kept: 1, Merged: 2}, {Tokens: []int32{13, 14}, Accepted: 2, Drafted: 3, Kept: 3, Ended: true}}
		if err != nil || fmt.Sprint(list) != fmt.Sprint(want) {
			t.Errorf("new ids only (%v): %+v, %v\nwant %+v", incremental, list, err, want)
		}
	}
}

// llama-server's counts rise with the first token of a round; tokens come one by one. Tokens inside a
// character have no piece. If rounds can then not be separated, only their sums are reported.
func TestWatchedRoundsOfLlamaServer(t *testing.T) {
	event := func(id, written, drafted, kept int) string {
		return fmt.Sprintf(`data: {"tokens":[%d],"model":"demo","stop":false,"timings":{"predicted_n":%d,"draft_n":%d,"draft_n_accepted":%d}}`+"\n\n", id, written, drafted, kept)
	}
	end := `data: {"tokens":[],"model":"demo","stop":true}` + "\n\n"
	stream := event(1, 1, 0, 0) + event(2, 2, 4, 1) + event(3, 3, 4, 1) + event(4, 4, 8, 1) + event(5, 5, 8, 1) + event(6, 6, 12, 5) + event(7, 7, 12, 5) + end
	want := []Seen{{Tokens: []int32{1}}, {Tokens: []int32{2, 3}, Accepted: 1, Drafted: 4, Kept: 1}, {Tokens: []int32{4}, Drafted: 4}, {Tokens: []int32{5}},
		{Tokens: []int32{6, 7}, Accepted: 2, Drafted: 4, Kept: 4, Ended: true}}
	if list, _, err := watched(t, Llama, stream, 50); err != nil || fmt.Sprint(list) != fmt.Sprint(want) {
		t.Errorf("%+v, %v\nwant %+v", list, err, want)
	}
	for name, bad := range map[string]string{
		"counts that fall": event(1, 1, 4, 2) + event(2, 2, 2, 2) + event(3, 3, 2, 2) + event(4, 4, 1, 1), "more kept than drafted": event(1, 1, 1, 2),
		"a huge draft": event(1, 1, 1<<30, 0), "a token of another vocabulary": event(99999, 1, 0, 0), "a stream that breaks off": event(1, 1, 4, 4) + event(2, 2, 4, 4),
	} {
		if list, _, err := watched(t, Llama, bad, 50); err == nil {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

func TestMetricsOfBothServers(t *testing.T) {
	text := "# HELP some_page " + strings.Repeat("x", 1<<17) + `
# HELP llamacpp:spec_decode_num_drafts_total x
llamacpp:spec_decode_num_draft_tokens_total 114
llamacpp:spec_decode_num_accepted_tokens_total 102
llamacpp:spec_decode_num_drafts_total 32
llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position="1"} 26
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="demo",position="1"} 2.0
vllm:spec_decode_num_drafts_total{engine="0",model_name="demo"} 3.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{position="999999999"} 2.0
`
	m := readMetrics(text)
	if m.Drafts != 35 || m.Drafted != 114 || m.Accepted != 102 {
		t.Errorf("%+v", m)
	}
}

// empty is a body of left pieces without tokens, one per second by the test's clock.
type empty struct{ left int }

func (e *empty) Read(p []byte) (int, error) {
	if e.left--; e.left < 0 {
		return 0, io.EOF
	}
	time.Sleep(time.Second)
	return copy(p, `data: {"model":"demo","choices":[{"token_ids":[]}]}`+"\n\n"), nil
}

func (e *empty) Close() error { return nil }

func (e *empty) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: e}, nil
}

// Pieces without tokens do not extend the time limit for the next token.
func TestEmptyPiecesDoNotKeepAWatchedReplyAlive(t *testing.T) {
	for _, kind := range []Kind{VLLM, Llama} {
		synctest.Test(t, func(t *testing.T) {
			s := &Server{kind: kind, model: "demo", context: 500, vocab: 4100, base: "http://h",
				http: &http.Client{Transport: &empty{left: 1000}}, options: Options{Limit: 10 * time.Second}}
			w, err := s.NewTarget(4100).Watch(t.Context(), 1, sample.Params{TopP: 1}, 100)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			began := time.Now()
			if _, err := w.Next(); !errors.Is(err, errTooSlow) {
				t.Errorf("%v: %v", kind, err)
			}
			if took := time.Since(began); took > 12*time.Second {
				t.Errorf("%v: waited for %v, the limit is 10 s", kind, took)
			}
		})
	}
}

// If the server is busy, the request of a stream is repeated, too, after the time that the server asks for.
func TestABusyServerIsAskedAgainForAStream(t *testing.T) {
	for _, most := range []int{2, 1 << 30} {
		imitated := small()
		trouble(imitated, func(w http.ResponseWriter, n int) bool {
			if n > most {
				return false
			}
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		})
		target := mustAsk(t, imitated)
		target.server.options.Wait = waits(20)
		got, err := score(target, 3, sample.Params{TopP: 1})
		var refused *Refused
		if most == 2 && (err != nil || got[0] != 4) || most > 2 && !errors.As(err, &refused) {
			t.Errorf("busy %d times: %v, %v", most, got, err)
		}
		if asked := imitated.Requests; asked > 12 {
			t.Errorf("asked %d times", asked)
		}
	}
}
