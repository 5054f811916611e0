package standby

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/warptune/warptune/tuner"
)

// kubernetes is an Arbiter in a Lease object (coordination.k8s.io/v1) of a Kubernetes
// cluster: the record is its holderIdentity. A swap is an update with the resource
// version that was read, which the API server refuses when there is a newer one. Its
// client library would be two hundred modules for a GET and a PUT.
type kubernetes struct {
	server string // https://HOST:PORT
	name   string
	dir    string // the service account's files
}

// accountDir is where pods find their service account.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// Kubernetes returns the arbiter in a Lease of the pod's own namespace.
func Kubernetes(name string) (Arbiter, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, tuner.Errorf(tuner.Invalid, "use the lease", "this is no pod: KUBERNETES_SERVICE_HOST and _PORT are not set")
	}
	return kubernetes{"https://" + net.JoinHostPort(host, port), name, accountDir}, nil
}

// lease is the object; what it has besides is kept.
type lease struct {
	APIVersion string                     `json:"apiVersion"`
	Kind       string                     `json:"kind"`
	Metadata   map[string]any             `json:"metadata"`
	Spec       map[string]json.RawMessage `json:"spec"`
}

func (l *lease) record() (Record, error) {
	var text string
	if raw := l.Spec["holderIdentity"]; raw != nil {
		if err := json.Unmarshal(raw, &text); err != nil {
			return Record{}, err
		}
	}
	r, ok := ParseRecord(text)
	if !ok {
		return Record{}, tuner.Errorf(tuner.Damaged, "read the lease", "the holder %.80q of the Lease %v is no record: give a Lease that nothing else uses", text, l.Metadata["name"])
	}
	return r, nil
}

// set makes it hold a record.
func (l *lease) set(r Record) {
	if l.Spec == nil {
		l.Spec = map[string]json.RawMessage{}
	}
	text, _ := json.Marshal(r.String())
	at, _ := json.Marshal(time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00"))
	l.Spec["holderIdentity"], l.Spec["renewTime"] = text, at
}

// Read is in Arbiter.
func (k kubernetes) Read(ctx context.Context) (Record, error) {
	l, err := k.get(ctx)
	if err != nil || l == nil {
		return Record{}, err
	}
	return l.record()
}

// get returns the object as a majority of the cluster's store has it; nil: there is none.
func (k kubernetes) get(ctx context.Context) (*lease, error) {
	var l lease
	status, err := k.call(ctx, http.MethodGet, "/"+k.name, nil, &l)
	if status == http.StatusNotFound {
		return nil, nil
	}
	return &l, err
}

// Create is in Arbiter.
func (k kubernetes) Create(ctx context.Context, first Record) (bool, error) {
	l := lease{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Metadata: map[string]any{"name": k.name}}
	l.set(first)
	status, err := k.call(ctx, http.MethodPost, "", &l, nil)
	if status == http.StatusConflict {
		return false, nil
	}
	return err == nil, err
}

// Swap is in Arbiter.
func (k kubernetes) Swap(ctx context.Context, old, next Record) (bool, error) {
	l, err := k.get(ctx)
	if err != nil || l == nil {
		return false, err
	}
	if now, err := l.record(); err != nil || now != old {
		return false, err
	}
	l.set(next)
	status, err := k.call(ctx, http.MethodPut, "/"+k.name, l, nil)
	if status == http.StatusConflict {
		return false, nil
	}
	return err == nil, err
}

// maxObject is the most bytes of an answer.
const maxObject = 1 << 20

// call calls the API server. The status is that of an answer, 0 without one.
func (k kubernetes) call(ctx context.Context, method, path string, in, out any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client, token, namespace, err := k.account()
	if err != nil {
		return 0, err
	}
	defer client.CloseIdleConnections()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return 0, err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, k.server+"/apis/coordination.k8s.io/v1/namespaces/"+namespace+"/leases"+path, body)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxObject))
	switch {
	case err != nil:
		return 0, err // it is unknown what was done
	case answer.StatusCode/100 != 2:
		return answer.StatusCode, fmt.Errorf("%s the Lease %s: the API server says %s: %s", method, k.name, answer.Status, tuner.Clip(string(text), 200))
	case out == nil:
		return answer.StatusCode, nil
	}
	return answer.StatusCode, json.Unmarshal(text, out)
}

// account reads the service account's files, which are renewed now and then.
func (k kubernetes) account() (client *http.Client, token, namespace string, err error) {
	var files [3]string
	for i, name := range []string{"token", "namespace", "ca.crt"} {
		text, err := os.ReadFile(filepath.Join(k.dir, name))
		if err != nil {
			return nil, "", "", fmt.Errorf("the pod's service account: %w", err)
		}
		files[i] = strings.TrimSpace(string(text))
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(files[2])) {
		return nil, "", "", fmt.Errorf("the pod's service account: ca.crt has no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	return &http.Client{Transport: transport}, files[0], files[1], nil
}
