package imitation

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"
)

// stream writes a reply token by token. It holds the server's lock except while it sends bytes, so that
// a client that stops reading does not stop the others.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, q *question, prompt []int32) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := pieces{w: w, size: s.Piece}
	rounds := s.Speculates
	drafted, accepted, left := 0, 0, 0
	var pending []byte
	read, last := len(prompt), map[string]any{}
	for written := 1; written <= q.Predict; written++ {
		if written > 1 && left == 0 && len(rounds) > 0 { // the counters rise before the tokens of a round are sent
			drafted, accepted, left = drafted+rounds[0][0], accepted+rounds[0][1], rounds[0][1]+1
			rounds = rounds[1:]
		}
		a := s.piece(q, prompt, 0, s.uniform())
		id := a["tokens"].([]int32)[0]
		ends := s.Stops != nil && s.Stops(id) || written == q.Predict || len(prompt)+1 >= s.Context
		t := map[string]any{"cache_n": len(prompt) - 1, "prompt_n": 1, "predicted_n": written, "predicted_ms": float64(written-1) + 0.001}
		if s.ClockJumps {
			t["predicted_ms"] = []float64{-1e12, 1e12, 0}[written%3]
		}
		if drafted > 0 {
			t["draft_n"], t["draft_n_accepted"] = drafted, accepted
		}
		left = max(0, left-1)
		a["timings"], a["tokens_evaluated"], last = t, read, t
		prompt = append(prompt[:len(prompt):len(prompt)], id)
		if s.Bytes != nil {
			pending = append(pending, s.Bytes(id)...)
		}
		if insideCharacter(pending) {
			if ends {
				break
			}
			continue // llama-server sends nothing for a token that ends inside a character
		}
		a["content"], pending = strings.ToValidUTF8(string(pending), "\uFFFD"), nil
		s.Unlock()
		alive := out.event(a) && r.Context().Err() == nil
		s.Lock()
		if !alive {
			return
		}
		if ends {
			break
		}
	}
	s.Unlock()
	out.event(map[string]any{"index": 0, "tokens": []int32{}, "model": s.Model, "stop": true, "stop_type": "limit", "timings": last})
	s.Lock()
}

// insideCharacter reports whether text ends inside a character.
func insideCharacter(text []byte) bool {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return !utf8.FullRune(text[i:])
		}
	}
	return false
}

// pieces writes events, size bytes at a time; 0: a whole event at a time.
type pieces struct {
	w    http.ResponseWriter
	size int
}

func (p pieces) event(body any) bool {
	text, err := json.Marshal(body)
	if err != nil {
		return false
	}
	return p.write(append(append([]byte("data: "), text...), "\n\n"...))
}

func (p pieces) write(text []byte) bool {
	for len(text) > 0 {
		n := len(text)
		if p.size > 0 {
			n = min(n, p.size)
		}
		if _, err := p.w.Write(text[:n]); err != nil {
			return false
		}
		if f, ok := p.w.(http.Flusher); ok {
			f.Flush()
		}
		text = text[n:]
	}
	return true
}
