package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/warptune/warptune/deploy/scale/externalscaler"
	"github.com/warptune/warptune/tuner/tunertest"
)

// start runs the program until the test ends, and returns the address it
// serves on. What it logs afterwards is read and dropped.
func start(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append(args, "--log-json"), write)
		_ = write.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitDone {
			t.Errorf("status %d", code)
		}
	})
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		var line struct {
			Message string `json:"@message"`
			Address string `json:"address"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		if line.Message == "serving" {
			go func() { _, _ = io.Copy(io.Discard, read) }()
			return line.Address
		}
	}
	t.Fatal("it ended without serving")
	return ""
}

// Beside sweeps the program serves metrics and KEDA, and makes backups.
func TestServesWhatOperatorsNeed(t *testing.T) {
	data, metrics := t.TempDir(), tunertest.FreeAddress(t)
	address := start(t, "--listen", "127.0.0.1:0", "--data", data, "--metrics", metrics, "--backup-every", "20ms", "--backup-keep", "1")

	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	active, err := externalscaler.NewExternalScalerClient(conn).IsActive(t.Context(), &externalscaler.ScaledObjectRef{}, grpc.WaitForReady(true))
	if err != nil || active.GetResult() {
		t.Errorf("without a sweep KEDA hears %v (%v)", active, err)
	}

	answer, err := get(t, "http://"+metrics+"/metrics")
	if err != nil || !strings.Contains(answer, "warptune_store_writable 1\n") {
		t.Errorf("metrics: %v:\n%s", err, answer)
	}

	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if names, _ := filepath.Glob(filepath.Join(data, "warptune.db.*.backup")); len(names) > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no backup was made")
		}
	}
}

// get asks until somebody listens.
func get(t *testing.T, url string) (string, error) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		r, err := http.Get(url)
		if err != nil {
			if time.Now().After(end) {
				return "", err
			}
			continue
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		return string(b), err
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range []string{
		"", "--data x --listen here", "--data x --listen 0.0.0.0:1", "--data x --metrics 0.0.0.0:1", "--data x --metrics here",
		"--data x --audit 1.5", "--data x --backup-every -1s", "--data x --backup-keep 0", "--data x extra", "--data x --log-level loud", "--data x --tls-cert y", "--data x --tls-key y --insecure",
	} {
		if code := run(t.Context(), strings.Fields(args), io.Discard); code != exitUsage {
			t.Errorf("%q: status %d, want %d", args, code, exitUsage)
		}
	}
}
