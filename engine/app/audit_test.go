package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"specula/engine/audit"
	"specula/engine/remote"
)

// A server may refuse to tell its counters. Any other failure to read them is an error, not their absence.
func TestCountersAreReadOrRefused(t *testing.T) {
	for name, want := range map[string]struct {
		page           http.HandlerFunc
		counts, failed bool
	}{
		"a page": {page: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("a:spec_decode_num_draft_tokens_total 7\n"))
		}, counts: true},
		"no page":       {page: http.NotFound},
		"not supported": {page: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) }},
		"broken off":    {page: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			imitated := pairServer(t)
			imitated.Trouble = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/metrics" {
					return false
				}
				want.page(w, r)
				return true
			}
			listener := httptest.NewServer(imitated)
			defer listener.Close()
			server, err := remote.Connect(t.Context(), remote.Options{URL: listener.URL, Limit: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			count, err := counting(t.Context(), server)
			if (err != nil) != want.failed || (count != nil) != want.counts {
				t.Fatalf("counters: %t, error %v; want counters: %t, an error: %t", count != nil, err, want.counts, want.failed)
			}
			if !want.counts {
				return
			}
			if got, err := count(t.Context()); err != nil || got != (audit.Counters{Drafted: 7}) {
				t.Errorf("counted %+v, %v, want 7 drafted tokens", got, err)
			}
		})
	}
}
