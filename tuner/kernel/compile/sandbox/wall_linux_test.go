package sandbox

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sources makes a directory to work in, with sources in src.
func sources(t *testing.T, files map[string]string) (work, src string) {
	t.Helper()
	work, err := filepath.EvalSymlinks(t.TempDir()) // compilers report real paths
	if err != nil {
		t.Fatal(err)
	}
	src = filepath.Join(work, "src")
	if err := os.Mkdir(src, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return work, src
}

// Whatever a compiler is, it and its sub-processes read and write nothing outside
// its directory but what programs need to run, connect to nothing, and signal
// nobody; within it they may do as they like. What is walled off stays the
// sub-process: this one goes on as before.
func TestWallHoldsAnyProgram(t *testing.T) {
	if landlock() == 0 {
		t.Skip("this kernel has no Landlock")
	}
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.h")
	if err := os.WriteFile(secret, []byte("TOPSECRET"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	work, src := sources(t, map[string]string{"k.cu": "MINE"})
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	sh := func(script string) exit {
		t.Helper()
		e, err := Run(context.Background(), DefaultLimits(), NewWall(work, bash), src, bash, "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for name, script := range map[string]string{
		"read":                  "cat " + secret,
		"read by sub-process":   "bash -c 'bash -c \"cat " + secret + "\"'",
		"read by redirection":   "read x <" + secret + " && echo $x",
		"read through a link":   "ln -s " + secret + " link; cat link",
		"list":                  "ls " + dir + " | grep secret",
		"write":                 "echo x >" + filepath.Join(dir, "new"),
		"append":                "echo x >>" + secret,
		"remove":                "rm " + secret,
		"move away":             "mv " + secret + " .",
		"link":                  "ln " + secret + " hard && cat hard",
		"run":                   "cp /bin/ls ./mine && cp ./mine " + dir,
		"environment of others": "cat /proc/1/environ /proc/self/environ",
		"passwords":             "cat /etc/passwd",
		"connect":               "exec 3<>/dev/tcp/127.0.0.1/" + port,
		"signal others":         "kill -0 " + "$PPID",
	} {
		if name == "connect" && landlock() < 4 || name == "signal others" && landlock() < 6 {
			continue
		}
		if e := sh(script); e.Code == 0 || strings.Contains(e.Output+e.Message, "TOPSECRET") {
			t.Errorf("%s: status %d, %s%s", name, e.Code, e.Output, e.Message)
		}
	}
	text, err := os.ReadFile(secret)
	if string(text) != "TOPSECRET" {
		t.Fatalf("what is outside is %q (%v)", text, err)
	}
	if e := sh("cat k.cu && echo y >out && mkdir d && mv out d/ && cat d/out && rm -r d && echo z >../out.ptx && echo >/dev/null && sort </dev/null"); e.Code != 0 || e.Output != "MINEy\n" {
		t.Errorf("inside: status %d, %s%s", e.Code, e.Output, e.Message)
	}
	if out, err := os.ReadFile(filepath.Join(work, "out.ptx")); err != nil || string(out) != "z\n" {
		t.Errorf("it wrote %q (%v)", out, err)
	}
}

// The preprocessor that nvcc leaves a source to is walled off as nvcc is: what it
// includes from outside is not there.
func TestWallHoldsHostCompiler(t *testing.T) {
	gcc, err := exec.LookPath("g++")
	if err != nil || landlock() == 0 {
		t.Skipf("no g++ (%v), or no Landlock", err)
	}
	fine := filepath.Join(t.TempDir(), "fine.h")
	if err := os.WriteFile(fine, []byte("int reached;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{"#include <cmath>\n#include \"mine.h\"\n": true, "#include \"" + fine + "\"\n": false, "#include \"/etc/hostname\"\n": false} {
		work, src := sources(t, map[string]string{"k.cpp": text, "mine.h": "int mine;\n"})
		e, err := Run(context.Background(), DefaultLimits(), NewWall(work, gcc), src, gcc, "-S", "-o", "../out.ptx", "./k.cpp")
		if err != nil || (e.Code == 0) != ok || !ok && !strings.Contains(e.Message, "ermission denied") {
			t.Errorf("%q: status %d, %s (%v)", text, e.Code, e.Message, err)
		}
	}
}
