package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/warptune/warptune/tuner/rpc"
)

// flagSet is what flag.FlagSet and cobra's have in common.
type flagSet interface {
	StringVar(p *string, name, value, usage string)
	BoolVar(p *bool, name string, value bool, usage string)
}

// Security says how a client, or a coordinator, proves who it is and knows the
// other side. The zero value is plaintext without tokens.
type Security struct {
	files     rpc.TLSFiles
	tokenFile string
	tls       bool
}

// ClientFlags adds the flags of a client.
func (s *Security) ClientFlags(f flagSet) {
	f.BoolVar(&s.tls, "tls", false, "encrypt the connection; implied by the other --tls flags")
	f.StringVar(&s.files.CA, "tls-ca", "", "PEM file of who certifies the coordinator; default: whom the system trusts")
	f.StringVar(&s.files.Certificate, "tls-cert", "", "PEM file of a client certificate, whose URI warptune:role:ROLE is its role")
	f.StringVar(&s.files.Key, "tls-key", "", "PEM file of its key")
	f.StringVar(&s.tokenFile, "token-file", "", "file with the token to present; readable by its owner only")
}

// ServerFlags adds the flags of a coordinator.
func (s *Security) ServerFlags(f flagSet) {
	f.StringVar(&s.files.Certificate, "tls-cert", "", "PEM file of the certificate to serve with; read again when it changes")
	f.StringVar(&s.files.Key, "tls-key", "", "PEM file of its key")
	f.StringVar(&s.files.CA, "tls-ca", "", "PEM file of who certifies clients; their certificates name their role")
	f.StringVar(&s.tokenFile, "token-file", "", "file of the tokens to accept, one a line: ROLE NAME TOKEN; read again when it changes")
}

// StandbyFlags adds the flags by which a coordinator proves who it is to the one that
// it follows.
func (s *Security) StandbyFlags(f flagSet) {
	f.BoolVar(&s.tls, "standby-tls", false, "encrypt the connection to --standby-of; implied by the other --standby-tls flags")
	f.StringVar(&s.files.CA, "standby-tls-ca", "", "PEM file of who certifies the coordinator that is followed; default: whom the system trusts")
	f.StringVar(&s.files.Certificate, "standby-tls-cert", "", "PEM file of a client certificate to follow with, whose URI is warptune:role:standby")
	f.StringVar(&s.files.Key, "standby-tls-key", "", "PEM file of its key")
	f.StringVar(&s.tokenFile, "standby-token-file", "", "file with the token to follow with, of the role standby; readable by its owner only")
}

// CheckPair says that one of a certificate and its key is not given.
func (s *Security) CheckPair() error {
	if (s.files.Certificate == "") != (s.files.Key == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	return nil
}

// Dial makes a client connection to the coordinator at an address (see
// rpc.CheckAddress). Nothing is sent until the first call.
func (s *Security) Dial(address string) (*grpc.ClientConn, error) {
	var creds credentials.TransportCredentials
	if s.tls || s.files != (rpc.TLSFiles{}) {
		err := s.CheckPair()
		if err == nil {
			creds, err = s.files.Client()
		}
		if err != nil {
			return nil, err
		}
	}
	options := rpc.ClientOptions(creds)
	var allow func(string) error
	if s.tokenFile != "" {
		if creds == nil {
			allow = private
		}
		token, err := rpc.ReadToken(s.tokenFile)
		if err != nil {
			return nil, err
		}
		options = append(options, grpc.WithPerRPCCredentials(rpc.Bearer(token, creds == nil)))
	}
	return rpc.Dial(address, allow, options...)
}

// private says why a token must not go to an address in plaintext.
func private(hostPort string) error {
	if rpc.CheckPlaintext(hostPort) != nil {
		return fmt.Errorf("a token would be sent to %s for everybody on the way to read: add --tls, or --tls-ca FILE", hostPort)
	}
	return nil
}

// CheckListen says why a server must not listen on an address, nil if it may;
// insecure says that plaintext is asked for.
func (s *Security) CheckListen(addr string, insecure bool) error {
	if insecure || s.files.Certificate != "" {
		return nil
	}
	return rpc.CheckPlaintext(addr)
}

// Secured is what a coordinator serves with.
type Secured struct {
	Options []grpc.ServerOption
	// Readers says who may look; nil: everybody who connects may do everything.
	Readers *rpc.Authorizer
	// TLS is for what is served beside the API; nil: plaintext.
	TLS *tls.Config
}

// Server returns what a coordinator serves with. Without tokens and without a CA
// everybody who connects may do everything.
func (s *Security) Server(log hclog.Logger) (*Secured, error) {
	var o Secured
	if s.files != (rpc.TLSFiles{}) {
		creds, err := s.files.Server()
		if err == nil {
			o.TLS, err = s.files.ServerConfig("h2", "http/1.1")
		}
		if err != nil {
			return nil, fmt.Errorf("--tls-cert, --tls-key and --tls-ca: %w", err)
		}
		o.Options = append(o.Options, rpc.Credentials(creds))
	}
	var tokens *rpc.Tokens
	if s.tokenFile != "" {
		var err error
		if tokens, err = rpc.LoadTokens(s.tokenFile); err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
	}
	if tokens == nil && s.files.CA == "" {
		return &o, nil
	}
	o.Readers = rpc.NewAuthorizer(tokens, log)
	o.Options = append(o.Options, o.Readers.Options()...)
	return &o, nil
}
