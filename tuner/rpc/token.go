package rpc

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/warptune/warptune/tuner"
)

// minToken is the shortest token taken, in characters.
const minToken = 16

// Tokens are the bearer tokens of a file, one a line: a role, a name and the
// token, separated by spaces; # begins a comment. The file is read again when
// it changes. Nobody but its owner may read it.
type Tokens struct {
	path string

	mu      sync.Mutex
	checked time.Time // when the file was last looked at
	stamp   string    // its size and time of change then
	entries []tokenEntry
	failing time.Time // since when it cannot be read; zero: it can
}

type tokenEntry struct {
	role   Role
	name   string
	digest [sha256.Size]byte
}

// Identity is who calls, as far as the coordinator knows.
type Identity struct {
	Name string
	Role Role
	// Certificate is the subject of the certificate that says so; "": a token does.
	Certificate string
}

// reread is how long a removed token may still work.
const reread = 2 * time.Second

// LoadTokens reads a token file.
func LoadTokens(path string) (*Tokens, error) {
	t := &Tokens{path: path}
	return t, t.refresh(time.Now())
}

// tokenGrace is how long the tokens stay valid of a file that cannot be read any
// more: its disk may be away, or somebody may be writing it.
const tokenGrace = time.Minute

// refresh reads the file if it changed. One that cannot be read leaves the tokens
// valid that were in it, for a while; one that others can read leaves none.
func (t *Tokens) refresh(now time.Time) error {
	if now.Sub(t.checked) < reread && now.After(t.checked) {
		return nil
	}
	t.checked = now
	err := t.read()
	switch {
	case err == nil:
		t.failing = time.Time{}
	case t.failing.IsZero():
		t.failing = now
	case now.Sub(t.failing) >= tokenGrace:
		t.entries = nil
	}
	return err
}

// read reads the file if it changed.
func (t *Tokens) read() error {
	info, err := os.Stat(t.path)
	if err != nil {
		t.stamp = ""
		return err
	}
	stamp := fmt.Sprint(info.Size(), info.ModTime().UnixNano(), info.Mode())
	if stamp == t.stamp {
		return nil
	}
	t.stamp = ""
	if !private(info) {
		t.entries = nil
		return fmt.Errorf("token file %s can be read by others (mode %v): chmod 600 it", t.path, info.Mode().Perm())
	}
	text, err := os.ReadFile(t.path)
	if err != nil {
		return err
	}
	entries, err := parseTokens(t.path, text)
	if err != nil {
		return err
	}
	t.entries, t.stamp = entries, stamp
	return nil
}

// parseTokens reads a token file. Its errors never have a token in them.
func parseTokens(path string, text []byte) ([]tokenEntry, error) {
	var entries []tokenEntry
	scanner := bufio.NewScanner(bytes.NewReader(text))
	for line := 1; scanner.Scan(); line++ {
		before, _, _ := strings.Cut(scanner.Text(), "#")
		fields := strings.Fields(before)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s:%d: want a role, a name and a token, found %d fields", path, line, len(fields))
		}
		role, err := ParseRole(fields[0])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: the first field is no role: want reader, submitter, worker, admin or standby", path, line)
		}
		if len(fields[2]) < minToken {
			return nil, fmt.Errorf("%s:%d: the token of %s has fewer than %d characters", path, line, fields[1], minToken)
		}
		entries = append(entries, tokenEntry{role: role, name: fields[1], digest: sha256.Sum256([]byte(fields[2]))})
	}
	return entries, scanner.Err()
}

// identify returns whose token it is. It compares with every token, in a time
// that does not depend on them.
func (t *Tokens) identify(token string) (Identity, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.refresh(time.Now()) // no token is valid then
	digest := sha256.Sum256([]byte(token))
	var id Identity
	found := false
	for i := range t.entries {
		if subtle.ConstantTimeCompare(digest[:], t.entries[i].digest[:]) == 1 {
			id, found = Identity{Name: t.entries[i].name, Role: t.entries[i].role}, true
		}
	}
	return id, found
}

// bearer is a client's token.
type bearer struct {
	token    string
	insecure bool
}

// Bearer returns credentials that send a token with every call. They refuse to
// send it over a connection that is not encrypted, unless insecure is set.
func Bearer(token string, insecure bool) interface {
	GetRequestMetadata(ctx context.Context, uri ...string) (map[string]string, error)
	RequireTransportSecurity() bool
} {
	return bearer{token, insecure}
}

// GetRequestMetadata is in credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

// RequireTransportSecurity is in credentials.PerRPCCredentials.
func (b bearer) RequireTransportSecurity() bool { return !b.insecure }

// ReadToken reads a client's token from a file that only its owner may read.
func ReadToken(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !private(info) {
		return "", tuner.Errorf(tuner.Invalid, "read token", "%s can be read by others (mode %v): chmod 600 it", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", tuner.Errorf(tuner.Invalid, "read token", "%s has not exactly one token", path)
	}
	return token, nil
}
