package deploy

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files; read the diff before committing it")

// golden lists what Render makes of fleets. The Kubernetes one is also what
// "kubectl apply -k deploy/kubernetes/queue" applies.
var golden = map[string]struct {
	engine Engine
	fleet  Fleet
}{
	"kubernetes/queue/workers.yaml": {Kubernetes, Fleet{Coordinator: "warptune-coordinator:7070", Workers: 8, Slots: 1}},
	"testdata/settings.yaml": {Kubernetes, Fleet{
		Coordinator: "10.0.0.1:7070", Workers: 3, Slots: 4, Lifetime: time.Hour, Program: "/opt/worker", Flags: []string{"--log-json"},
		Settings: []Setting{{"name", "night"}, {"namespace", "tuning"}, {"image", "registry.example/worker:v1"}, {"memory", "3Gi"}},
	}},
	"testdata/array.sbatch": {Slurm, Fleet{Coordinator: "login1:7070", Workers: 10, Slots: 2}},
	"testdata/settings.sbatch": {Slurm, Fleet{
		Coordinator: "[fd00::1]:7070", Workers: 1, Slots: 1, Lifetime: 55 * time.Minute, Program: "/home/o'neil/my tools/worker",
		Prologue: "module load llvm\nexport TMPDIR=/local\n", Settings: []Setting{{"partition", "short"}, {"comment", "two words"}},
	}},
	"testdata/host.sh": {SSH, Fleet{Coordinator: "login1:7070", Workers: 1, Slots: 2, Settings: []Setting{{"log", "/var/tmp/my worker.log"}}}},
}

func TestGolden(t *testing.T) {
	for file, g := range golden {
		got, err := Render(g.engine, &g.fleet)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if *rewrite {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is not what is rendered; go test ./deploy -rewrite, and read the diff", file)
		}
	}
}

// A shell reads each rendered script, and every word of the worker's command
// arrives as it was given.
func TestScriptsReachTheWorker(t *testing.T) {
	sh, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	hostile := []string{"--id=a b", "--id=$(false)", "--id=`false`", "--id='", `--id="\`, "--id=;&|<>*?[x]~!#", "--id=é"}
	for _, e := range []Engine{Slurm, SSH} {
		f := Fleet{Coordinator: "login1:7070", Workers: 1, Slots: 1, Flags: hostile, Program: "printf", Settings: []Setting{{"output", "/dev/null"}}}
		if e == SSH {
			f.Settings = []Setting{{"log", "my $(false) log"}}
		}
		text, err := Render(e, &f)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(sh, "-n", "-c", text).CombinedOutput(); err != nil {
			t.Errorf("%v: %v: %s", e, err, out)
		}
		command := f.script().Command
		out, err := exec.Command(sh, "-c", "set -- "+command+`; printf '%s\n' "$@"`).Output()
		want := strings.Join(append([]string{"printf"}, f.Args()...), "\n") + "\n"
		if err != nil || string(out) != want {
			t.Errorf("%v: a shell reads %q, want %q (%v)", e, out, want, err)
		}
	}
}

func TestRefused(t *testing.T) {
	ok := Fleet{Coordinator: "login1:7070", Workers: 1, Slots: 1}
	wrong := map[string]func(f *Fleet) Engine{
		"want HOST:PORT":        func(f *Fleet) Engine { f.Coordinator = "login1"; return Slurm },
		"as the workers reach":  func(f *Fleet) Engine { f.Coordinator = "a\n#SBATCH --uid=0:1"; return Slurm },
		"an absolute path":      func(f *Fleet) Engine { f.Coordinator = "@a;b"; return Slurm },
		"see no such file":      func(f *Fleet) Engine { f.Coordinator = "@/shared/at"; return Kubernetes },
		"at least 1 worker":     func(f *Fleet) Engine { f.Workers = 0; return Slurm },
		"at least 1 slot":       func(f *Fleet) Engine { f.Slots = -1; return SSH },
		"negative":              func(f *Fleet) Engine { f.Lifetime = -1; return SSH },
		"no shell":              func(f *Fleet) Engine { f.Prologue = "x"; return Kubernetes },
		"given twice":           func(f *Fleet) Engine { f.Settings = []Setting{{"time", "1"}, {"time", "2"}}; return Slurm },
		"has no setting":        func(f *Fleet) Engine { f.Settings = []Setting{{"partition", "x"}}; return Kubernetes },
		"follows from":          func(f *Fleet) Engine { f.Settings = []Setting{{"array", "0-9"}}; return Slurm },
		"control characters":    func(f *Fleet) Engine { f.Settings = []Setting{{"time", "1\n#SBATCH --uid=0"}}; return Slurm },
		"is no DNS label":       func(f *Fleet) Engine { f.Settings = []Setting{{"name", "A b"}}; return Kubernetes },
		"starts with a dash":    func(f *Fleet) Engine { f.Program = "-x"; return SSH },
		"has nothing to render": func(*Fleet) Engine { return Local },
	}
	for says, change := range wrong {
		f := ok
		e := change(&f)
		if text, err := Render(e, &f); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want an error with %q, got %v and %d bytes", says, err, len(text))
		}
	}
	for _, moves := range []string{"@/shared/at", "login1:7070,login2:7070"} {
		f := ok
		f.Coordinator = moves
		if text, err := Render(Slurm, &f); err != nil || !strings.Contains(string(text), "--coordinator "+moves+" ") {
			t.Errorf("%v: %s", err, text)
		}
	}
	for _, text := range []string{"", "=", "a", "A=1", "-a=1", "a b=1", "a=1\nb"} {
		if s, err := ParseSetting(text); err == nil {
			t.Errorf("setting %q is read as %v", text, s)
		}
	}
}

func TestSubmissions(t *testing.T) {
	f := Fleet{Coordinator: "login1:7070", Workers: 2, Slots: 1}
	all, err := Submissions(SSH, &f, []string{"gpu1", "me@gpu2"})
	if err != nil || len(all) != 4 || all[0].Argv[4] != "gpu1" || all[3].Argv[4] != "me@gpu2" {
		t.Errorf("%v: %v", all, err)
	}
	for _, hosts := range [][]string{nil, {"-oProxyCommand=x"}, {"a b"}, {""}} {
		if _, err := Submissions(SSH, &f, hosts); err == nil {
			t.Errorf("hosts %q are taken", hosts)
		}
	}
	if all, err := Submissions(Slurm, &f, nil); err != nil || len(all) != 1 || all[0].Argv[0] != "sbatch" {
		t.Errorf("%v: %v", all, err)
	}
}
