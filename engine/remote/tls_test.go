package remote

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"specula/engine/sample"
)

// A server's certificate must be signed by an authority that the client was told of, and a server may ask
// the client for one, too.
func TestCertificatesOfAnAuthorityOfOnesOwn(t *testing.T) {
	ca, other := issue(t, nil, "authority", true), issue(t, nil, "authority", true)
	folder := t.TempDir()
	trusted, wrong, mine, foreign := filepath.Join(folder, "ca.pem"), filepath.Join(folder, "other.pem"), filepath.Join(folder, "me.pem"), filepath.Join(folder, "foreign.pem")
	writePEM(t, trusted, "CERTIFICATE", ca.Certificate[0])
	writePEM(t, wrong, "CERTIFICATE", other.Certificate[0])
	for file, by := range map[string]tls.Certificate{mine: ca, foreign: other} {
		c := issue(t, &by, "client", false)
		writePEM(t, file, "CERTIFICATE", c.Certificate[0])
		der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		writePEM(t, file, "PRIVATE KEY", der)
	}
	start := func(clients tls.ClientAuthType) string {
		pool := x509.NewCertPool()
		pool.AddCert(ca.Leaf)
		server := httptest.NewUnstartedServer(small())
		server.TLS = &tls.Config{Certificates: []tls.Certificate{issue(t, &ca, "server", false)}, ClientAuth: clients, ClientCAs: pool}
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		t.Cleanup(server.Close)
		return server.URL
	}
	open, closed := start(tls.NoClientCert), start(tls.RequireAndVerifyClientCert)
	for _, c := range []struct{ name, url, ca, certificate, want string }{
		{"the authority is known", open, trusted, "", ""},
		{"no authority is named", open, "", "", "certificate"},
		{"another authority", open, wrong, "", "certificate"},
		{"no such file", open, filepath.Join(folder, "absent"), "", "remote.ca"},
		{"a file without certificates", open, os.Args[0], "", "remote.ca"},
		{"the client has a certificate", closed, trusted, mine, ""},
		{"the client has none", closed, trusted, "", "certificate"},
		{"the client has one of another authority", closed, trusted, foreign, "certificate"},
		{"the client's has no private key", closed, trusted, trusted, "remote.certificate"},
		{"plain HTTP", strings.Replace(open, "https", "http", 1), trusted, "", "status 400"},
	} {
		s, err := Connect(t.Context(), Options{URL: c.url, Key: secret, CA: c.ca, Certificate: c.certificate, Limit: time.Minute})
		if err == nil {
			s.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Headers come from a file, and their values are in no message.
func TestHeadersOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(file, []byte("X-Gateway: Bearer "+secret+"\r\n\nX-Team: blue: green\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	imitated := small()
	imitated.Key = ""
	gateway := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Team") != "blue: green" || r.Header.Get("X-Gateway") != "Bearer "+secret {
			http.Error(w, `{"error":{"message":"who are you?"}}`, http.StatusForbidden)
			return
		}
		if r.URL.Path == "/completion" {
			http.Error(w, `{"error":{"message":"not with `+secret+`"}}`, http.StatusForbidden)
			return
		}
		imitated.ServeHTTP(w, r)
	})
	if _, err := ask(t, Options{}, gateway); err == nil {
		t.Error("without headers the gateway lets nobody in")
	}
	s, err := ask(t, Options{Headers: file}, gateway)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := score(s.NewTarget(10), 4, sample.Params{TopP: 1}, 5); err == nil || !strings.Contains(err.Error(), "not with [header]") {
		t.Error(err)
	}
	for _, text := range []string{secret, "host: gateway", "X Y: " + secret, ": " + secret, "X: a\x1b" + secret, strings.Repeat("X: "+secret+"\n", 9000)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ask(t, Options{Headers: file}, gateway); err == nil || !strings.Contains(err.Error(), "remote.headers") || strings.Contains(err.Error(), secret) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
}

// proxied, in the environment, makes this test binary the client behind a proxy: net/http reads the
// settings of proxies once.
const proxied = "TEST_PROXIED"

func TestProxiesOfTheEnvironment(t *testing.T) {
	if os.Getenv(proxied) != "" {
		s, err := Connect(t.Context(), Options{URL: "http://model.invalid:8080", Key: secret, Limit: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		return
	}
	asked := ""
	imitated := small()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Host
		imitated.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	client := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxiesOfTheEnvironment$")
	client.Env = append(os.Environ(), proxied+"=1", "HTTP_PROXY="+proxy.URL, "NO_PROXY=")
	if out, err := client.CombinedOutput(); err != nil || asked != "model.invalid:8080" {
		t.Errorf("%v, the proxy was asked for %q: %s", err, asked, out)
	}
}

// authority makes a certificate authority and a server's certificate of it. It returns the file that a
// client trusts, and the server's settings.
func authority(t *testing.T) (file string, server *tls.Config) {
	t.Helper()
	ca := issue(t, nil, "authority", true)
	file = filepath.Join(t.TempDir(), "ca.pem")
	writePEM(t, file, "CERTIFICATE", ca.Certificate[0])
	return file, &tls.Config{Certificates: []tls.Certificate{issue(t, &ca, "server", false)}}
}

// issue makes a certificate for a host, signed by another one or by itself.
func issue(t *testing.T, by *tls.Certificate, host string, signs bool) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: signs, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey.(*ecdsa.PrivateKey)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func writePEM(t *testing.T, file, kind string, der []byte) {
	t.Helper()
	out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := pem.Encode(out, &pem.Block{Type: kind, Bytes: der}); err != nil {
		t.Fatal(err)
	}
}

// The address of a proxy may hold a password, and the error of a wrong address repeats it.
func TestAWrongProxyIsNotRepeated(t *testing.T) {
	_, err := proxy(func(*http.Request) (*url.URL, error) { return nil, errors.New("http://me:secret@proxy is wrong") })(nil)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error is %v", err)
	}
}
