package remote

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Errors without an answer name the address of the server once.
func TestNoAnswerNamesTheAddressOnce(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Connect(t.Context(), Options{URL: address, Limit: time.Hour})
	if err == nil || strings.Count(err.Error(), address) != 1 || !strings.Contains(err.Error(), "connection refused; is the server running") {
		t.Errorf("nothing listens: %v", err)
	}
	_, err = Connect(t.Context(), Options{URL: address, Limit: time.Millisecond, transport: unreachable{}})
	if err == nil || strings.Count(err.Error(), address) != 1 || !strings.Contains(err.Error(), "remote.timeout") {
		t.Errorf("no answer in time: %v", err)
	}
}

// unreachable never answers.
type unreachable struct{}

func (unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}
