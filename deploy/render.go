package deploy

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"text/template"
)

//go:embed slurm/workers.sbatch.tmpl kubernetes/workers.yaml.tmpl ssh/workers.sh.tmpl
var templateFiles embed.FS

var templates = template.Must(template.ParseFS(templateFiles, "*/*.tmpl"))

// DefaultImage is the workers' container image, built from deploy/container.
const DefaultImage = "warptune-worker:latest"

// Render returns the text that starts the fleet: a batch script for Slurm, a
// manifest for Kubernetes, and for ssh a script that a shell on each host
// reads.
func Render(e Engine, f *Fleet) (string, error) {
	if err := f.Check(e); err != nil {
		return "", err
	}
	name, data := "", any(nil)
	switch e {
	case Kubernetes:
		name, data = "workers.yaml.tmpl", f.manifest()
	case SSH:
		name, data = "workers.sh.tmpl", f.script()
	case Slurm:
		name, data = "workers.sbatch.tmpl", f.script()
	default:
		return "", fmt.Errorf("engine %s has nothing to render", e)
	}
	var out strings.Builder
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		return "", err
	}
	return out.String(), nil
}

// script is what a shell template is filled with; every value is quoted.
type script struct {
	Coordinator   string
	Last          int
	Slots         int
	Restarts      int
	Settings      []Setting
	Prologue, Log string
	Command       string
}

func (f *Fleet) script() *script {
	s := &script{
		Coordinator: f.Coordinator, Last: f.Workers - 1, Slots: f.Slots, Restarts: restarts,
		Prologue: strings.TrimRight(f.Prologue, "\n"), Log: quoted(f.setting("log", "warptune-worker.log")),
	}
	words := []string{quoted(f.program())}
	for _, a := range f.Args() {
		words = append(words, quoted(a))
	}
	s.Command = strings.Join(words, " ")
	for _, o := range f.Settings {
		if strings.ContainsAny(o.Value, " '") {
			o.Value = `"` + o.Value + `"`
		}
		s.Settings = append(s.Settings, o)
	}
	return s
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,\[\]-]+$`)

// quoted returns a word that a POSIX shell reads as s.
func quoted(s string) string {
	if plain.MatchString(s) && !strings.ContainsAny(s, "[]") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// manifest is what the Kubernetes template is filled with; every value is
// quoted as YAML.
type manifest struct {
	Coordinator            string
	Workers, Restarts      int
	Name, Namespace, Image string
	Worker, CPU, Memory    string
	Args                   []string
}

func (f *Fleet) manifest() *manifest {
	m := &manifest{
		Coordinator: f.Coordinator, Workers: f.Workers, Restarts: restarts * f.Workers,
		Name: scalar(f.setting("name", "warptune-workers")), Image: scalar(f.setting("image", DefaultImage)),
		Worker: scalar(f.program()), Memory: scalar(f.setting("memory", "1Gi")),
	}
	cpu, _ := json.Marshal(f.Slots)
	m.CPU = scalar(f.setting("cpu", string(cpu)))
	if ns := f.setting("namespace", ""); ns != "" {
		m.Namespace = scalar(ns)
	}
	for _, a := range f.Args() {
		m.Args = append(m.Args, scalar(a))
	}
	return m
}

// scalar returns s as a double-quoted YAML scalar, which JSON's strings are.
func scalar(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}
