package tuner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
)

// A worker is known by the name that it gives itself and the credential that it
// calls with: "NAME@CREDENTIAL". So nobody continues, reports for, or spoils the
// name of a worker of another credential, and what is stored says whose it is. A
// coordinator that asks for no credential knows workers by their names, and all
// of them are of one credential, "".

// maxCredential is the length in bytes above which a credential is hashed.
const maxCredential = 128

// WorkerID returns what a worker is known by that calls itself name and presents
// credential; "": nobody asked for one. No two pairs have the same.
func WorkerID(name, credential string) string {
	if credential == "" {
		if !strings.Contains(name, "@") {
			return name
		}
		return name + "@"
	}
	var b strings.Builder
	for _, r := range credential {
		if r == '@' || r == '%' || r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.IsSpace(r) {
			fmt.Fprintf(&b, "%%%02X", r)
		} else {
			b.WriteRune(r)
		}
	}
	escaped := b.String()
	if len(escaped) > maxCredential {
		sum := sha256.Sum256([]byte(credential))
		escaped = "%" + hex.EncodeToString(sum[:16])
	}
	return name + "@" + escaped
}

// CredentialOf returns the credential that a worker presents, in the letters that
// WorkerID writes it in; "": none, or it is not known.
func CredentialOf(worker string) string {
	if at := strings.LastIndexByte(worker, '@'); at >= 0 {
		return worker[at+1:]
	}
	return ""
}

// nameOf returns what a worker calls itself.
func nameOf(worker string) string {
	if at := strings.LastIndexByte(worker, '@'); at >= 0 {
		return worker[:at]
	}
	return worker
}

// independent reports whether two workers call with different credentials: one
// caller may have many names.
func independent(a, b string) bool { return CredentialOf(a) != CredentialOf(b) }

// maxCredentials is how many credentials of a sweep's workers are told apart: one
// more than a check excludes.
const maxCredentials = 3

// credentials returns some credentials of workers that were heard of lately and
// could take a sweep's trials: all, if they are fewer than maxCredentials. It looks
// through the workers once a second.
func (l *Ledger) credentials(s *live) map[string]bool {
	if s.credentials != nil && s.credentialed.Equal(l.swept) {
		return s.credentials
	}
	s.credentials, s.credentialed = map[string]bool{}, l.swept
	for _, o := range l.sessions {
		if len(s.credentials) == maxCredentials {
			break
		}
		if c := CredentialOf(o.worker.ID); !s.credentials[c] && l.able(s, o) {
			s.credentials[c] = true
		}
	}
	return s.credentials
}

// elsewhere reports whether a worker of another credential than any of ids' could
// take the sweep's trials.
func (l *Ledger) elsewhere(s *live, ids ...string) bool {
others:
	for c := range l.credentials(s) {
		for _, id := range ids {
			if id != "" && CredentialOf(id) == c {
				continue others
			}
		}
		return true
	}
	return false
}
