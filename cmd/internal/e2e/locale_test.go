package e2e

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Whatever language, decimal mark and time zone the environment says, the output is
// the same, byte for byte.
func TestLocaleAndTimeZone(t *testing.T) {
	if _, err := time.LoadLocation("Asia/Kathmandu"); err != nil {
		t.Skipf("no time zones here: %v", err)
	}
	db := filepath.Join(t.TempDir(), "x.db")
	run := func(environment []string, args ...string) string {
		t.Helper()
		cmd := command(t, "warptune", append(args, "--db", db)...)
		cmd.Env = append(cmd.Env, environment...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v %v: %v\n%s", environment, args, err, &errs)
		}
		return out.String()
	}
	usual := []string{"LC_ALL=C", "TZ=UTC"}
	first := run(usual, append([]string{"tune"}, small...)...)
	id := regexp.MustCompile(`(?m)^([0-9a-f]{8,}) `).FindStringSubmatch(run(usual, "sweep", "list"))[1]
	commands := [][]string{
		append([]string{"tune"}, small...), {"best", "transpose_tiled", "--arch", "h200"}, {"sweep", "list"}, {"sweep", "list", "--json"},
		{"sweep", "status", id}, {"sweep", "audit"}, {"sweep", "audit", "--json"},
	}
	for _, format := range strings.Fields("json csv c-header kernel-tuner t4") {
		commands = append(commands, []string{"export", "--all", "--format", format})
	}
	var want []string
	for _, c := range commands {
		want = append(want, run(usual, c...))
	}
	if want[0] != first {
		t.Errorf("the second time a tune says\n%s\nfirst it said\n%s", want[0], first)
	}
	for _, environment := range [][]string{
		{"LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8", "LC_NUMERIC=de_DE.UTF-8", "TZ=Asia/Kathmandu"},
		{"LC_ALL=tr_TR.UTF-8", "TZ=America/St_Johns"},
		{"LC_ALL=", "LANG=ar_EG", "TZ=:/usr/share/zoneinfo/Pacific/Chatham"},
	} {
		for i, c := range commands {
			if got := run(environment, c...); got != want[i] {
				t.Errorf("%v: %v says\n%s\nwant\n%s", environment, c, got, want[i])
			}
		}
		// A sweep that is evaluated there has the same table.
		other := filepath.Join(t.TempDir(), "y.db")
		before := db
		db = other
		run(environment, append([]string{"tune"}, small...)...)
		if got := run(usual, "export", "--all", "--format", "json"); got != want[7] {
			t.Errorf("%v: the table is\n%s\nwant\n%s", environment, got, want[7])
		}
		db = before
	}
}
