package deploytest

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// CommandLine is how a file starts a program.
type CommandLine struct {
	File    string
	Program string // base name: coordinator, worker or warptune
	Args    []string
}

// programs are what CommandLines looks for.
var programs = map[string]bool{"coordinator": true, "worker": true, "warptune": true}

// values stand for what a shell, systemd or a reader would fill in. A variable
// that is not here is left as it is, and no parser takes it.
var values = strings.NewReplacer(
	"${WARPTUNE_INTERFACE:-$node}:0", "node1:0", "$data", "/data", "$output", "/data/table.json", "$address", "node1:7070",
	"${SLURM_CPUS_PER_TASK:-1}", "1", "slurm-$job", "slurm-1_2", "${LISTEN} $SECURITY $PAIR", "0.0.0.0:7070 --insecure --arbiter=/shared/warptune --standby-of=10.0.0.2:7070", "${COORDINATOR} $SECURITY", "node1:7070 --tls-ca=/etc/warptune/ca.crt", "${COORDINATOR}", "node1:7070",
	"${SLOTS}", "1", "%H-%i", "host-1", `"$@"`, "sgemm --arch h200", `"${serve[@]}"`, "--tls-cert /etc/warptune/tls.crt --tls-key /etc/warptune/tls.key --token-file /etc/warptune/tokens",
	`"${call[@]}"`, "--tls-ca /etc/warptune/ca.crt --token-file /etc/warptune/token", "%i", "1", "~", "/home/me",
)

// CommandLines returns the command lines of the programs in the files of fsys,
// whose root is the repository's, that the patterns (path.Match) name.
func CommandLines(fsys fs.FS, patterns ...string) ([]CommandLine, error) {
	var all []CommandLine
	for _, pattern := range patterns {
		files, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("no file matches %s", pattern)
		}
		for _, file := range files {
			text, err := fs.ReadFile(fsys, file)
			if err != nil {
				return nil, err
			}
			all = append(all, in(file, string(text))...)
		}
	}
	return all, nil
}

// in reads one file by its kind.
func in(file, text string) []CommandLine {
	switch {
	case strings.HasSuffix(file, ".yaml"):
		return inManifest(file, text)
	case strings.HasSuffix(file, ".md"):
		return inLines(file, fenced(text))
	}
	return inLines(file, text)
}

// fenced returns the blocks of a Markdown file that a shell would read.
func fenced(text string) string {
	var out strings.Builder
	for i, block := range strings.Split(text, "```") {
		if code, ok := strings.CutPrefix(block, "sh\n"); ok && i%2 == 1 {
			out.WriteString(code)
		}
	}
	return out.String()
}

// ends are where a command ends on a line of a script.
var ends = regexp.MustCompile(` (\|\|?|&&?|2?>>?|<|#|;) ?.*| &$`)

// starts is what may come before a program on its line.
var starts = regexp.MustCompile(`^(\s*|ExecStart=|srun [-a-z=0-9 ]*)$`)

// inLines reads scripts, units and shell blocks, in which a command stands on
// one line, or on several that end in a backslash.
func inLines(file, text string) []CommandLine {
	var all []CommandLine
	for _, line := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		line = ends.ReplaceAllString(values.Replace(line), "")
		words := strings.Fields(strings.ReplaceAll(line, `"`, ""))
		for i, w := range words {
			program := path.Base(strings.TrimPrefix(w, "ExecStart="))
			before, _, _ := strings.Cut(line, w)
			if strings.HasPrefix(w, "ExecStart=") {
				before = "ExecStart="
			}
			if programs[program] && starts.MatchString(before) {
				all = append(all, CommandLine{file, program, words[i+1:]})
				break
			}
		}
	}
	return all
}

var (
	commandLine = regexp.MustCompile(`^ *command: \["?(\w+)"?\]$`)
	argument    = regexp.MustCompile(`^ *- "?(--[^"]*|[^":\s]+(?::\d+)?)"?$`)
)

// inManifest reads Kubernetes manifests, in which a container's command is
// followed by its args, one a line.
func inManifest(file, text string) []CommandLine {
	var all []CommandLine
	within := false
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "  #")
		if m := commandLine.FindStringSubmatch(line); m != nil {
			all, within = append(all, CommandLine{File: file, Program: m[1]}), false
			continue
		}
		if strings.TrimSpace(line) == "args:" {
			within = len(all) > 0
			continue
		}
		m := argument.FindStringSubmatch(line)
		within = within && m != nil
		if within {
			last := &all[len(all)-1]
			last.Args = append(last.Args, m[1])
		}
	}
	return all
}
