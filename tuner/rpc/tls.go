package rpc

import (
	"cmp"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/warptune/warptune/tuner"
)

// rolePrefix begins the URI in a certificate's subject alternative names that
// gives its holder a role, e.g. "warptune:role:worker".
const rolePrefix = "warptune:role:"

// certificateIdentity returns whom a verified client certificate names.
func certificateIdentity(c *x509.Certificate) (Identity, error) {
	if time.Now().After(c.NotAfter) { // since it connected
		return Identity{}, tuner.Errorf(tuner.Unauthenticated, "authorize", "the client certificate of %q ended at %s: connect with a new one", c.Subject.CommonName, c.NotAfter.UTC().Format(time.RFC3339))
	}
	for _, uri := range c.URIs {
		if name, ok := strings.CutPrefix(uri.String(), rolePrefix); ok {
			role, err := ParseRole(name)
			if err != nil {
				return Identity{}, tuner.Errorf(tuner.Unauthenticated, "authorize", "the client certificate names %w", err)
			}
			key := keyName(c)
			return Identity{Name: cmp.Or(c.Subject.CommonName, c.Subject.String(), key), Role: role, Certificate: cmp.Or(c.Subject.String(), key)}, nil
		}
	}
	return Identity{}, tuner.Errorf(tuner.Unauthenticated, "authorize", "the client certificate of %q has no URI %s…", c.Subject.CommonName, rolePrefix)
}

// keyName names the holder of a certificate by what else there is than a subject. That is its first alternative
// name, or else its role, and the SHA-256 of its public key (RFC 7469's pin, in hexadecimal). A certificate that is
// renewed with its key keeps it.
func keyName(c *x509.Certificate) string {
	names := slices.Concat(c.DNSNames, c.EmailAddresses)
	for _, uri := range c.URIs {
		if text := uri.String(); !strings.HasPrefix(text, rolePrefix) {
			names = append(names, text)
		}
	}
	if len(names) == 0 {
		names = []string{c.URIs[0].String()}
	}
	return fmt.Sprintf("%s sha256:%x", tuner.Clip(names[0], 128), sha256.Sum256(c.RawSubjectPublicKeyInfo))
}

// TLSFiles names PEM files. Certificate and key go together. All are read again
// when they change, so that renewal needs no restart.
type TLSFiles struct {
	Certificate string
	Key         string
	CA          string // whom the other side must be certified by
}

// Server returns credentials for a server. With a CA, clients may present a
// certificate of it and get the role in it; without one, they need a token.
func (f TLSFiles) Server() (credentials.TransportCredentials, error) {
	config, err := f.ServerConfig("h2")
	if err != nil {
		return nil, err
	}
	return credentials.NewTLS(config), nil
}

// ServerConfig is what Server serves by, for other protocols.
func (f TLSFiles) ServerConfig(protocols ...string) (*tls.Config, error) {
	if f.Certificate == "" || f.Key == "" {
		return nil, fmt.Errorf("TLS needs both a certificate and a key")
	}
	pair := &keyPair{files: f}
	if _, err := pair.get(); err != nil {
		return nil, err
	}
	config := &tls.Config{
		MinVersion:     tls.VersionTLS13,
		NextProtos:     protocols,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.get() },
		// A resumed session would be of whom another authority certified.
		SessionTicketsDisabled: true,
	}
	if f.CA == "" {
		return config, nil
	}
	authorities, err := newAuthorities(f.CA)
	if err != nil {
		return nil, err
	}
	config.ClientAuth = tls.VerifyClientCertIfGiven
	each := config.Clone()
	each.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		now := config.Clone()
		now.ClientCAs = authorities.get()
		return now, nil
	}
	return each, nil
}

// Client returns credentials for a client. Without a CA the system's are
// trusted.
func (f TLSFiles) Client() (credentials.TransportCredentials, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	if f.Certificate != "" {
		pair := &keyPair{files: f}
		if _, err := pair.get(); err != nil {
			return nil, err
		}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair.get() }
	}
	if f.CA == "" {
		return credentials.NewTLS(config), nil
	}
	authorities, err := newAuthorities(f.CA)
	if err != nil {
		return nil, err
	}
	return trusting{credentials.NewTLS(config), config, authorities}, nil
}

// keyPair is a certificate and its key, read again when the files change.
type keyPair struct {
	files TLSFiles

	mu      sync.Mutex
	checked time.Time
	stamp   string
	pair    *tls.Certificate
}

// get returns the certificate. When the new files do not fit together, as
// while they are being replaced, the old one stays in use.
func (k *keyPair) get() (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := time.Now(); k.pair == nil || now.Sub(k.checked) > reread {
		k.checked = now
		if stamp := stampOf(k.files.Certificate) + stampOf(k.files.Key); stamp != k.stamp {
			pair, err := loadPair(k.files)
			if err != nil && k.pair == nil {
				return nil, err
			}
			if err == nil {
				k.pair, k.stamp = pair, stamp
			}
		}
	}
	return k.pair, nil
}

func stampOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

func loadPair(f TLSFiles) (*tls.Certificate, error) {
	info, err := os.Stat(f.Key)
	if err != nil {
		return nil, err
	}
	if !private(info) {
		return nil, fmt.Errorf("key %s can be read by others (mode %v): chmod 600 it", f.Key, info.Mode().Perm())
	}
	pair, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
	if err != nil {
		return nil, fmt.Errorf("load certificate %s: %w", f.Certificate, err)
	}
	return &pair, nil
}

// CheckPlaintext says why a server must not listen on an address without TLS,
// nil if it may: it is a loopback address.
func CheckPlaintext(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return tuner.Errorf(tuner.Invalid, "listen", "%s can be reached from other machines and the connection would not be encrypted: give --tls-cert and --tls-key, or --insecure", address)
}
