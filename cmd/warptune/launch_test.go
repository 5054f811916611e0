package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLaunchPrints(t *testing.T) {
	for args, want := range map[string]string{
		"slurm --coordinator login1:7070 --workers 10 --slots 2":                                "array.sbatch",
		"kubernetes --coordinator warptune-coordinator:7070 --workers 8":                        "../kubernetes/queue/workers.yaml",
		"ssh --coordinator login1:7070 --slots 2 --set log=/var/tmp/my_worker.log --prologue :": "",
		"kubernetes --coordinator 10.0.0.1:7070 --workers 3 --slots 4 --lifetime 1h --worker /opt/worker --flag=--log-json --set name=night --set namespace=tuning --set image=registry.example/worker:v1 --set memory=3Gi": "settings.yaml",
	} {
		var out, problems bytes.Buffer
		line := append([]string{"launch"}, strings.Fields(args)...)
		if status := run(t.Context(), append(line, "--print"), &out, &problems); status != exitDone {
			t.Errorf("%s: status %d: %s", args, status, &problems)
			continue
		}
		if want == "" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../../deploy/testdata", want))
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != string(text) {
			t.Errorf("%s prints not %s:\n%s", args, want, &out)
		}
	}
	for _, args := range []string{
		"", "nomad", "slurm", "slurm --coordinator x", "slurm --coordinator a:1 --set x", "slurm --coordinator a:1 --workers 0",
		"kubernetes --coordinator a:1 --set partition=x", "kubernetes --coordinator a:1 --prologue x", "ssh --coordinator a:1", "local",
	} {
		var out bytes.Buffer
		if status := run(t.Context(), append([]string{"launch"}, strings.Fields(args)...), &out, &out); status != exitUsage {
			t.Errorf("launch %s: status %d, want %d: %s", args, status, exitUsage, &out)
		}
	}
}

// onPath puts a program that is a shell script first in PATH.
func onPath(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return file
}

// The text goes to the site's client as it is printed; the client's answer is
// the user's, and its refusal is an error with its own words.
func TestLaunchSubmits(t *testing.T) {
	got := filepath.Join(t.TempDir(), "got")
	onPath(t, "sbatch", "echo \"$@\" >"+got+"; cat >>"+got+"; echo 42\n")
	var printed, out bytes.Buffer
	line := []string{"launch", "slurm", "--coordinator", "a:1", "--set", "time=1:00:00"}
	if status := run(t.Context(), append(line, "--print"), &printed, &out); status != exitDone {
		t.Fatal(out.String())
	}
	if status := run(t.Context(), line, &out, &out); status != exitDone || out.String() != "42\n" {
		t.Errorf("status %d, %q", status, &out)
	}
	text, err := os.ReadFile(got)
	if err != nil || string(text) != "--parsable\n"+printed.String() {
		t.Errorf("sbatch got %q (%v)", text, err)
	}
	onPath(t, "sbatch", "echo invalid partition >&2; exit 1\n")
	out.Reset()
	if status := run(t.Context(), line, &out, &out); status != exitFailed || !strings.Contains(out.String(), "invalid partition") {
		t.Errorf("status %d, %q", status, &out)
	}
}

func launchLocal(ctx context.Context, program string) (int, string) {
	var out bytes.Buffer
	status := run(ctx, []string{"launch", "local", "--coordinator", "a:1", "--workers", "2", "--worker", program}, &out, &out)
	return status, out.String()
}

func TestLaunchLocal(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		script string
		status int
	}{
		"finished":    {"exit 0", exitDone},
		"drained":     {"exit 75", exitDone},
		"wrong flags": {"echo \"$@\" >>" + dir + "/wrong; exit 64", exitFailed},
		"fault":       {"test -e \"" + dir + "/$6\" && exit 0; : >\"" + dir + "/$6\"; exit 1", exitDone},
	} {
		if status, out := launchLocal(t.Context(), onPath(t, "worker", c.script+"\n")); status != c.status {
			t.Errorf("%s: status %d: %s", name, status, out)
		} else if name == "fault" && strings.Count(out, "starting it again") != 2 {
			t.Errorf("%s: %s", name, out)
		}
	}
	if text, _ := os.ReadFile(dir + "/wrong"); strings.Count(string(text), "--coordinator a:1 --slots 1 --id local-") != 2 {
		t.Errorf("two workers with wrong flags, each started once: %q", text)
	}
	if status, out := launchLocal(t.Context(), "/no/such/worker"); status != exitFailed || !strings.Contains(out, "--worker") {
		t.Errorf("status %d: %s", status, out)
	}
}

// Interrupted, the workers are told to drain, and what they do then is waited
// for.
func TestLaunchLocalDrains(t *testing.T) {
	dir := t.TempDir()
	program := onPath(t, "worker", "trap 'sleep 0.2; : >\""+dir+"/drained$6\"; exit 75' TERM\n: >\""+dir+"/up$6\"\nwhile :; do sleep 0.05; done\n")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if up, _ := filepath.Glob(dir + "/up*"); len(up) == 2 {
				cancel()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	status, out := launchLocal(ctx, program)
	if drained, _ := filepath.Glob(dir + "/drained*"); status != exitDone || len(drained) != 2 {
		t.Errorf("status %d, %d workers drained: %s", status, len(drained), out)
	}
}

// Over ssh, which here runs what it is given on this machine, a worker outlives
// the connection, is started again after a fault, and drains on TERM.
func TestLaunchSSH(t *testing.T) {
	dir := t.TempDir()
	onPath(t, "ssh", "while [ \"$1\" != sh ]; do shift; done; exec \"$@\"\n")
	program := onPath(t, "worker", "test -e "+dir+"/again || { : >"+dir+"/again; exit 1; }\n"+
		"trap ': >"+dir+"/drained; exit 75' TERM\n: >"+dir+"/up\nwhile :; do sleep 0.05; done\n")
	var out bytes.Buffer
	status := run(t.Context(), []string{
		"launch", "ssh", "--coordinator", "a:1", "--hosts", "gpu1", "--worker", program, "--set", "log=" + dir + "/worker log",
	}, &out, &out)
	_, after, found := strings.Cut(out.String(), ": process ")
	number, _, _ := strings.Cut(after, ",")
	pid, err := strconv.Atoi(number)
	if status != exitDone || !found || err != nil {
		t.Fatalf("status %d: %s", status, &out)
	}
	waitFor(t, dir+"/up")
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waitFor(t, dir+"/drained")
	waitFor(t, dir+"/worker log")
}

// waitFor waits until a file is there.
func waitFor(t *testing.T, name string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s did not come", name)
		}
	}
}
