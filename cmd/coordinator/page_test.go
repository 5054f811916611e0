package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/tunertest"
)

// certify writes a certificate for "coordinator" and its key, and returns who trusts it.
func certify(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "coordinator"}, NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"coordinator"}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		text := pem.EncodeToMemory(block)
		if name == "cert.pem" {
			pool.AppendCertsFromPEM(text)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return pool
}

// The coordinator's page is for whoever may look at sweeps by the API's tokens, over its TLS: by the form, and as programs
// present them. Guesses at the form count as guesses at the API do.
func TestPageTakesTheTokensOfTheAPI(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tokens"), []byte(tokens), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := certify(t, dir)
	at := tunertest.FreeAddress(t)
	start(t, "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--page", at, "--token-file", filepath.Join(dir, "tokens"),
		"--tls-cert", filepath.Join(dir, "cert.pem"), "--tls-key", filepath.Join(dir, "key.pem"))
	visit := func() *http.Client {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "coordinator", MinVersion: tls.VersionTLS13}}}
	}
	page := "https://" + at + "/"
	plain := visit()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // until somebody listens
		r, err := plain.Get(page + "data/sweeps")
		if err == nil {
			_ = r.Body.Close()
			if r.StatusCode != http.StatusUnauthorized {
				t.Errorf("without a token: status %d", r.StatusCode)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	for role, want := range map[string]int{"reader": 200, "submitter": 200, "worker": 403, "admin": 200} {
		token := strings.Repeat(role[:1], 20)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page+"data/sweeps", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := plain.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("a program with the role %s: status %d, want %d", role, answer.StatusCode, want)
		}
		browser := visit()
		answer, err = browser.PostForm(page+"login", url.Values{"token": {token}})
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("the form with the role %s: status %d, want %d", role, answer.StatusCode, want)
		}
		if want != http.StatusOK {
			continue
		}
		answer, err = browser.Get(page + "data/sweeps")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if !strings.Contains(string(text), fmt.Sprintf(`"role":%q`, role)) {
			t.Errorf("the role %s sees %s", role, text)
		}
	}
	guesser := visit()
	last := 0
	for i := range 12 {
		r, err := guesser.PostForm(page+"login", url.Values{"token": {fmt.Sprintf("guess-number-%08d", i)}})
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		last = r.StatusCode
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the twelfth guess: status %d", last)
	}
}

// Plaintext to other machines is refused, and without tokens a browser must mean this machine.
func TestPageWithoutTokens(t *testing.T) {
	if code := run(t.Context(), []string{"--data", t.TempDir(), "--page", "0.0.0.0:0"}, io.Discard); code != exitUsage {
		t.Errorf("plaintext to others: status %d", code)
	}
	at := tunertest.FreeAddress(t)
	start(t, "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--page", at)
	if text, err := get(t, "http://"+at+"/data/sweeps"); err != nil || !strings.Contains(text, `"sweeps":[]`) {
		t.Errorf("%s (%v)", text, err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+"/data/sweeps", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example"
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("of another name: status %d", answer.StatusCode)
	}
}
