package deploy

import (
	"fmt"
	"strings"
)

// Submission is a command of the site's own client and what it reads.
type Submission struct {
	Argv  []string // never goes through a shell here
	Stdin string
}

// Submissions returns the commands that start the fleet. hosts are for ssh,
// in any form ssh takes; each gets Fleet.Workers workers.
func Submissions(e Engine, f *Fleet, hosts []string) ([]Submission, error) {
	text, err := Render(e, f)
	if err != nil {
		return nil, err
	}
	switch e {
	case Slurm:
		return []Submission{{[]string{"sbatch", "--parsable"}, text}}, nil
	case Kubernetes:
		return []Submission{{[]string{"kubectl", "apply", "--filename", "-"}, text}}, nil
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("ssh needs hosts to start workers on")
	}
	var all []Submission
	for _, host := range hosts {
		if host == "" || strings.HasPrefix(host, "-") || strings.ContainsAny(host, " \t\n\r\x00") {
			return nil, fmt.Errorf("host %q is none that ssh takes", host)
		}
		for range f.Workers {
			all = append(all, Submission{[]string{"ssh", "-o", "BatchMode=yes", "--", host, "sh", "-s"}, text})
		}
	}
	return all, nil
}
