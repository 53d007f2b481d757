package remote

import (
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"specula/engine/remote/chaos"
	"specula/engine/remote/imitation"
)

// fault is one kind of fault. One of harm, trouble and clock is set.
type fault struct {
	name string
	tls  bool // the bytes are protected, so that no change of them goes unnoticed
	// harm is done by the network, at a random byte.
	harm func(rng *rand.Rand) chaos.Harm
	// trouble is done by the server. It gets the number of the request, from 1.
	trouble func(rng *rand.Rand) troubled
	clock   func(rng *rand.Rand) func() time.Time // of the client
}

// troubled returns how a server answers a request in place of its own way; nil: in its own way. done says
// that the fault has happened.
type troubled func(n int, s *imitation.Server) (answer answering, done bool)

type answering func(w http.ResponseWriter, r *http.Request)

// chaosLast is the last request that a fault of a server begins at. A conversation has 15 to 30.
const chaosLast = 18

func always(h chaos.Harm) func(*rand.Rand) chaos.Harm {
	return func(*rand.Rand) chaos.Harm { return h }
}

// once answers one random request in place of the server; from answers all requests from a random one on.
func once(answer answering) func(*rand.Rand) troubled {
	return spell(func(*rand.Rand) int { return 1 }, answer)
}

func from(answer answering) func(*rand.Rand) troubled {
	return spell(func(*rand.Rand) int { return 1 << 30 }, answer)
}

func spell(length func(*rand.Rand) int, answer answering) func(*rand.Rand) troubled {
	return func(rng *rand.Rand) troubled {
		first, many := 1+rng.IntN(chaosLast), length(rng)
		return func(n int, _ *imitation.Server) (answering, bool) {
			if n < first || n-first >= many {
				return nil, false
			}
			return answer, true
		}
	}
}

// says answers with a status and a body.
func says(status int, body string, headers ...string) answering {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// becomes changes the server at a random request, which it then answers itself.
func becomes(change func(rng *rand.Rand, s *imitation.Server)) func(*rand.Rand) troubled {
	return func(rng *rand.Rand) troubled {
		first := 1 + rng.IntN(chaosLast)
		return func(n int, s *imitation.Server) (answering, bool) {
			if n != first {
				return nil, false
			}
			s.Lock()
			defer s.Unlock()
			change(rng, s)
			return nil, true
		}
	}
}

func faults() []fault {
	many := func(rng *rand.Rand) int { return 1 + rng.IntN(60) }
	harm := func(kind chaos.Kind, up bool) func(*rand.Rand) chaos.Harm {
		return func(rng *rand.Rand) chaos.Harm { return chaos.Harm{Kind: kind, Up: up, Count: many(rng)} }
	}
	again := func(kind chaos.Kind, up bool) func(*rand.Rand) chaos.Harm {
		return always(chaos.Harm{Kind: kind, Up: up, Again: true})
	}
	slow := func(kind chaos.Kind, up bool, wait time.Duration, count int) func(*rand.Rand) chaos.Harm {
		return always(chaos.Harm{Kind: kind, Up: up, Wait: wait, Count: count})
	}
	return []fault{
		{name: "answers are cut", harm: harm(chaos.Cut, false)},
		{name: "the server goes away", harm: again(chaos.Cut, false)},
		{name: "answers stop", harm: harm(chaos.Silence, false)},
		{name: "answers stop for ever", harm: again(chaos.Silence, false)},
		{name: "answers pause for a while", harm: slow(chaos.Pause, false, chaosLimit/3, 0)},
		{name: "answers pause too long", harm: slow(chaos.Pause, false, 2*chaosLimit, 0)},
		{name: "answers drip", harm: slow(chaos.Drip, false, chaosLimit/20, 50)},
		{name: "answers drip for ever", harm: slow(chaos.Drip, false, chaosLimit/2, 1<<30)},
		{name: "bytes of answers come twice", harm: harm(chaos.Repeat, false)},
		{name: "bytes of answers are lost", harm: harm(chaos.Lose, false)},
		{name: "a byte of answers changes", harm: harm(chaos.Flip, false)},
		{name: "a digit of answers changes", harm: harm(chaos.Digit, false)},
		{name: "noise in answers", harm: harm(chaos.Noise, false)},
		{name: "much noise in answers", harm: always(chaos.Harm{Kind: chaos.Noise, Count: 1 << 17})},
		{name: "requests are cut", harm: harm(chaos.Cut, true)},
		{name: "requests stop", harm: harm(chaos.Silence, true)},
		{name: "requests pause", harm: slow(chaos.Pause, true, chaosLimit/3, 0)},
		{name: "noise in requests, under TLS", tls: true, harm: harm(chaos.Noise, true)},
		{name: "a byte of requests changes, under TLS", tls: true, harm: harm(chaos.Flip, true)},
		{name: "bytes of requests come twice, under TLS", tls: true, harm: harm(chaos.Repeat, true)},
		{name: "bytes of requests are lost, under TLS", tls: true, harm: harm(chaos.Lose, true)},
		{name: "a byte of answers changes, under TLS", tls: true, harm: harm(chaos.Flip, false)},
		{name: "answers are cut, under TLS", tls: true, harm: harm(chaos.Cut, false)},
		{name: "a connection is refused", harm: func(rng *rand.Rand) chaos.Harm { return chaos.Harm{Kind: chaos.Refuse, Up: true, Count: 1} }},

		{name: "the model is loading", trouble: spell(many, says(503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`))},
		{name: "the model is loading for ever", trouble: from(says(503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`))},
		{name: "too many requests, for a while", trouble: spell(func(rng *rand.Rand) int { return 1 + rng.IntN(3) }, says(429, `{}`, "Retry-After", "3"))},
		{name: "too many requests, for ever", trouble: from(says(429, `{}`, "Retry-After", "2"))},
		{name: "too many requests, until next year", trouble: from(says(429, `{}`, "Retry-After", "31536000"))},
		{name: "the key is revoked", trouble: from(says(401, `{"error":{"message":"Invalid API Key `+secret+`","type":"authentication_error","code":401}}`))},
		{name: "the key is revoked, in vLLM's words", trouble: from(says(401, `{"error":"Unauthorized: Bearer `+secret+`"}`))},
		{name: "the model is gone", trouble: from(says(404, `{"error":{"message":"The model does not exist.","code":404}}`))},
		{name: "the context is full", trouble: from(says(400, `{"error":{"code":400,"message":"request (3000 tokens) exceeds","type":"exceed_context_size_error","n_prompt_tokens":3000,"n_ctx":2048}}`))},
		{name: "the context is full in silence", trouble: becomes(func(rng *rand.Rand, s *imitation.Server) { s.Context = 10 + rng.IntN(15) })},
		{name: "the engine dies", trouble: from(says(500, `{"error":{"message":"EngineCore encountered an issue `+secret+`","code":500}}`))},
		{name: "an error inside success", trouble: once(says(200, `{"error":{"message":"it broke `+secret+`","code":500}}`))},
		{name: "an error in a stream, and [DONE]", trouble: once(says(200, "data: {\"error\":{\"message\":\"EngineCore\",\"code\":500}}\n\ndata: [DONE]\n\n", "Content-Type", "text/event-stream"))},
		{name: "[DONE] at once", trouble: once(says(200, "data: [DONE]\n\n", "Content-Type", "text/event-stream"))},
		{name: "half an answer", trouble: once(says(200, `[{"index":0,"model":"world","tok`))},
		{name: "no JSON", trouble: once(says(200, "<html><body>502 Bad Gateway</body></html>"))},
		{name: "an empty answer", trouble: once(says(200, ""))},
		{name: "another JSON", trouble: once(says(200, `{"data":[],"tokens":null,"choices":null,"index":-1}`))},
		{name: "a redirect", trouble: once(says(302, "", "Location", "http://elsewhere/"))},
		{name: "the answer of another request", trouble: becomes(func(_ *rand.Rand, s *imitation.Server) { s.Stale = true })},
		{name: "the connection is dropped", trouble: once(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })},
		{name: "no log-probabilities", trouble: becomes(func(_ *rand.Rand, s *imitation.Server) { s.Untold = true })},
		{name: "false log-probabilities", trouble: becomes(func(_ *rand.Rand, s *imitation.Server) { s.FalseRows = true })},
		{name: "the cache is not used again", trouble: becomes(func(_ *rand.Rand, s *imitation.Server) { s.Forgets = true })},
		{name: "another model", trouble: becomes(func(_ *rand.Rand, s *imitation.Server) {
			s.Model, s.Scores = "other", chaosScores(100)
		})},
		{name: "the server's clock jumps", trouble: becomes(func(_ *rand.Rand, s *imitation.Server) { s.ClockJumps = true })},
		{name: "the clock here jumps", clock: func(rng *rand.Rand) func() time.Time {
			return func() time.Time { return time.Unix(rng.Int64N(1<<34)-1<<33, 0) }
		}},
	}
}
