package standby

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// apiServer is as much of a Kubernetes API server as a Lease needs: optimistic
// concurrency by resource versions.
type apiServer struct {
	mu      sync.Mutex
	object  map[string]any // nil: there is none
	version int
	broken  bool // it does what it is asked, and says that it is unwell
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const path = "/apis/coordination.k8s.io/v1/namespaces/tuning/leases"
	s.mu.Lock()
	defer s.mu.Unlock()
	var sent map[string]any
	if r.Method != http.MethodGet && json.NewDecoder(r.Body).Decode(&sent) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	meta, _ := sent["metadata"].(map[string]any)
	status := http.StatusOK
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		status = http.StatusUnauthorized
	case r.Method == http.MethodPost && r.URL.Path == path:
		if status = http.StatusConflict; s.object == nil {
			status = http.StatusCreated
		}
	case r.URL.Path != path+"/warptune" || s.object == nil:
		status = http.StatusNotFound
	case r.Method == http.MethodPut && meta["resourceVersion"] != strconv.Itoa(s.version):
		status = http.StatusConflict
	}
	if sent != nil && status < 300 {
		s.version++
		s.object = sent
		meta["resourceVersion"] = strconv.Itoa(s.version)
		meta["uid"] = "kept"
	}
	if s.broken {
		status = http.StatusInternalServerError
	}
	w.WriteHeader(status)
	if status < 300 {
		_ = json.NewEncoder(w).Encode(s.object)
	}
}

func TestKubernetes(t *testing.T) {
	api := &apiServer{}
	server := httptest.NewTLSServer(api)
	defer server.Close()
	k := kubernetes{server.URL, "warptune", t.TempDir()}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for name, text := range map[string]string{"token": "secret\n", "namespace": "tuning", "ca.crt": string(ca)} {
		if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	arbiters(t, k)
	now, err := k.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	api.broken = true
	if done, err := k.Swap(t.Context(), now, Record{now.Term + 1, "x", "", "p"}); done || err == nil {
		t.Errorf("a server that is unwell: %v, %v", done, err)
	}
	api.broken = false
	if spec := api.object["spec"].(map[string]any); !strings.HasPrefix(spec["holderIdentity"].(string), strconv.FormatUint(now.Term, 10)+".") || spec["renewTime"] == nil {
		t.Errorf("the object is %v", api.object)
	}
	api.object["spec"] = map[string]any{"holderIdentity": "somebody-else"}
	if r, err := k.Read(t.Context()); err == nil {
		t.Errorf("another's lease is read as %s", r)
	}
	if done, err := k.Swap(t.Context(), now, Record{now.Term + 1, "x", "", "p"}); done || err == nil {
		t.Errorf("another's lease is swapped: %v, %v", done, err)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, err := Kubernetes("warptune"); err == nil {
		t.Error("there is a cluster without one")
	}
}
