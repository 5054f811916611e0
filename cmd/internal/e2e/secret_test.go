package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/tunertest"
)

// secret is a token or a line of a key that must be nowhere but in its file.
type secret struct{ what, text string }

// pair makes a certificate for a loopback address, and its key, and returns their
// files and what is secret of them.
func pair(t *testing.T, dir, host string) (certificate, key string, secrets []secret) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, Subject: pkix.Name{CommonName: "coordinator"}, IPAddresses: []net.IP{net.ParseIP(host)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: plain})
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-") {
			secrets = append(secrets, secret{"a line of the key", line})
		}
	}
	scalar, err := private.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	secrets = append(secrets, secret{"the key's bytes", string(scalar)})
	certificate, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	write(t, certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
	write(t, key, text, 0o600)
	return certificate, key, secrets
}

func write(t *testing.T, path string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, content, mode); err != nil {
		t.Fatal(err)
	}
}

// Tokens and keys are in no log, however much is logged, in no database, backup,
// audit log, error or dump of a process that is made to say all that it does, and on
// no command line. What processes write is their user's alone, and keys and tokens
// that others can read are refused.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	dir := t.TempDir()
	address := tunertest.FreeAddress(t)
	host, _, _ := net.SplitHostPort(address)
	certificate, key, secrets := pair(t, dir, host)
	var lines string
	file := func(role string) string {
		token := strings.ToUpper(role) + strings.Repeat(role, 4) + rand.Text()
		secrets = append(secrets, secret{"the token of the " + role, token})
		path := filepath.Join(dir, role+".token")
		write(t, path, []byte(token+"\n"), 0o600)
		lines += fmt.Sprintln(role, "the-"+role, token)
		return path
	}
	submitter, worker, admin := file("submitter"), file("worker"), file("admin")
	all := filepath.Join(dir, "tokens")
	write(t, all, []byte(lines), 0o600)
	wrong := file("reader") // is not in it
	data := filepath.Join(dir, "data")

	serving := []string{"--listen", address, "--data", data, "--tls-cert", certificate, "--tls-key", key, "--token-file", all, "--log-level", "trace", "--backup-every", "200ms"}
	c := start(t, "coordinator", serving...)
	c.says(t, `serving: address=(\S+)`)
	with := func(token string) []string {
		return []string{"--coordinator", address, "--tls-ca", certificate, "--token-file", token}
	}
	w := start(t, "worker", append(with(worker), "--slots", "1", "--log-level", "trace")...)
	said := warptune(t, append(append([]string{"sweep", "submit"}, with(submitter)...), small...)...)
	_, refused, code := try(t, append([]string{"sweep", "list"}, with(wrong)...)...)
	if code != 1 || !strings.Contains(refused, "token is not valid") {
		t.Errorf("a wrong token: exit status %d, %s", code, refused)
	}
	said += refused
	for _, p := range []*process{c, w} {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.cmd.Process.Pid))
		if err != nil {
			t.Skip("no /proc: command lines are not looked at")
		}
		said += string(line)
	}
	if code := w.wait(t); code != 0 {
		t.Errorf("the worker: exit status %d", code)
	}
	said += warptune(t, append([]string{"sweep", "audit", "--json"}, with(admin)...)...)
	if list := warptune(t, append([]string{"sweep", "list"}, with(admin)...)...); !strings.Contains(list, "OWNER") || !strings.Contains(list, "the-submitter") {
		t.Errorf("the list does not say whose the sweep is:\n%s", list)
	}
	if !strings.Contains(said, `"the-submitter"`) {
		t.Errorf("the audit log does not say who submitted:\n%s", said)
	}
	c.says(t, `backed up`)
	c.signal(t, syscall.SIGQUIT) // it says what it does, and ends
	<-c.done
	said += c.log.String() + w.log.String()
	if !strings.Contains(said, "goroutine 1") {
		t.Error("the coordinator did not say what it was doing")
	}

	looked := 0
	for _, s := range secrets {
		if strings.Contains(said, s.text) {
			t.Errorf("%s was said", s.what)
		}
	}
	home := filepath.Join(scratch, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{data, home} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if root == data && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v: others may use it", path, info.Mode())
			}
			content, err := os.ReadFile(path)
			looked++
			for _, s := range secrets {
				if bytes.Contains(content, []byte(s.text)) {
					t.Errorf("%s is in %s", s.what, path)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 3 {
		t.Errorf("only %d files were looked at", looked)
	}

	for _, open := range []string{key, all} {
		if err := os.Chmod(open, 0o644); err != nil {
			t.Fatal(err)
		}
		p := start(t, "coordinator", serving...)
		if code := p.wait(t); code != 1 || !strings.Contains(p.log.String(), "chmod 600") {
			t.Errorf("%s with mode 644: exit status %d, %s", open, code, p.log)
		}
		if err := os.Chmod(open, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(submitter, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := try(t, append([]string{"sweep", "list"}, with(submitter)...)...); code != 1 || !strings.Contains(stderr, "chmod 600") {
		t.Errorf("a client's token with mode 644: exit status %d, %s", code, stderr)
	}
}
