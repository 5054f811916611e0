package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/tunertest"
)

// The real commands as docs/OPERATIONS.md has them, with TLS and tokens: two
// coordinators, of which the first is killed in the middle of a sweep. Workers and
// clients that know both addresses go on by themselves, the table is that of an
// undisturbed run, and the old primary refuses to serve, follows when it is told to,
// and takes over again by command.
func TestStandby(t *testing.T) {
	dir := t.TempDir()
	addresses := [2]string{tunertest.FreeAddress(t), tunertest.FreeAddress(t)}
	metrics := [2]string{tunertest.FreeAddress(t), tunertest.FreeAddress(t)}
	host, _, _ := net.SplitHostPort(addresses[0])
	certificate, key, _ := pair(t, dir, host)
	token := func(role string) string {
		path := filepath.Join(dir, role+".token")
		write(t, path, []byte(strings.Repeat(role[:1], 24)+"\n"), 0o600)
		return path
	}
	write(t, filepath.Join(dir, "tokens"), []byte(fmt.Sprintf("admin ada %s\nworker wendy %s\nstandby two %s\n", strings.Repeat("a", 24), strings.Repeat("w", 24), strings.Repeat("s", 24))), 0o600)
	arbiter := filepath.Join(dir, "arbiter")
	if err := os.Mkdir(arbiter, 0o755); err != nil {
		t.Fatal(err)
	}
	data := [2]string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	args := func(i int, more ...string) []string {
		return append([]string{
			"--listen", addresses[i], "--data", data[i], "--arbiter", arbiter, "--take-over-after", "4s", "--metrics", metrics[i],
			"--tls-cert", certificate, "--tls-key", key, "--token-file", filepath.Join(dir, "tokens"),
		}, more...)
	}
	following := func(i int, token string) []string {
		return args(i, "--standby-of", addresses[1-i], "--standby-tls-ca", certificate, "--standby-token-file", token)
	}
	both := []string{"--coordinator", addresses[0] + "," + addresses[1], "--tls-ca", certificate}
	ask := append(both, "--token-file", token("admin"))

	a := start(t, "coordinator", args(0)...)
	a.says(t, `serving: address=(\S+)`)
	denied := start(t, "coordinator", following(1, token("worker"))...)
	denied.says(t, `not followed; trying again: error=.*has the role worker, which may not call`)
	denied.kill(t)
	b := start(t, "coordinator", following(1, token("standby"))...)
	b.says(t, "the copy of the database is whole")
	insync := func() string {
		t.Helper()
		for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
			if said, _, code := try(t, append([]string{"standby"}, ask...)...); code == 0 && strings.Contains(said, "its standby") && strings.Contains(said, "has everything") {
				return said
			}
		}
		t.Fatal("the standby does not catch up")
		return ""
	}
	t.Log(insync())
	for i, want := range []string{"warptune_primary 1\n", "warptune_primary 0\n"} {
		for until := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) { // a standby looks at the record now and then
			text := fetchMetrics(t, metrics[i])
			if strings.Contains(text, want) && strings.Contains(text, "warptune_standby_in_sync 1\n") {
				break
			}
			if time.Now().After(until) {
				t.Fatalf("metrics of coordinator %d:\n%s", i, text)
			}
		}
	}

	sweep := []string{"transpose_tiled", "--arch", "h200", "--problem", "1024"}
	warptune(t, append(append([]string{"sweep", "submit"}, ask...), sweep...)...)
	w := start(t, "worker", append(both, "--token-file", token("worker"), "--slots", "1")...)
	for until := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) { // some of it is done
		list := warptune(t, append([]string{"sweep", "list"}, ask...)...)
		if m := regexp.MustCompile(`(?m) (\d+) +\d+ +[\d-]`).FindStringSubmatch(list); m != nil && m[1] != "0" || strings.Contains(list, "completed") {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("nothing is done:\n%s", list)
		}
	}
	insync() // a busy machine may leave it behind at times
	a.kill(t)
	began := time.Now()
	b.says(t, `serving: address=(\S+)`)
	t.Logf("the standby serves %v after the primary was killed", time.Since(began))
	if code := w.wait(t); code != 0 {
		t.Errorf("the worker ends with status %d", code)
	}
	undisturbed := filepath.Join(t.TempDir(), "db")
	warptune(t, append([]string{"tune", "--db", undisturbed}, sweep...)...)
	exported(t, ask...).compare(t, exported(t, "--db", undisturbed))

	for says, command := range map[string][]string{"another coordinator has taken over": args(0), "one of two coordinators": {"--listen", addresses[0], "--data", data[0]}} {
		_, stderr, code := tryNamed(t, "coordinator", command...)
		if want := map[bool]int{true: 3, false: 1}[strings.HasPrefix(says, "another")]; code != want || !strings.Contains(stderr, says) {
			t.Errorf("the old primary is started again: status %d, want %d: %s", code, want, stderr)
		}
	}
	a = start(t, "coordinator", following(0, token("standby"))...)
	insync()
	if _, stderr, code := tryNamed(t, "coordinator", "promote", "--data", data[0], "--arbiter", arbiter); code != 0 {
		t.Errorf("promote: status %d: %s", code, stderr)
	}
	a.says(t, `serving: address=(\S+)`)
	if code := b.wait(t); code != 3 {
		t.Errorf("the one that served ends with status %d, want 3", code)
	}
	exported(t, ask...).compare(t, exported(t, "--db", undisturbed))
	audit := warptune(t, append([]string{"sweep", "audit"}, ask...)...)
	if n := strings.Count(audit, "take over"); n != 3 {
		t.Errorf("%d acts of taking over, want 3:\n%s", n, audit)
	}
	if said, _, _ := try(t, "doctor", data[0]); !strings.Contains(said, "alone") {
		t.Errorf("doctor says\n%s", said)
	}
	a.signal(t, syscall.SIGTERM)
	if code := a.wait(t); code != 0 {
		t.Errorf("stopped: status %d", code)
	}
}

func fetchMetrics(t *testing.T, address string) string {
	t.Helper()
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
