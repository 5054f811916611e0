package deploytest

import (
	"fmt"
	"testing"
	"testing/fstest"
)

func TestCommandLines(t *testing.T) {
	files := fstest.MapFS{
		"a.service": {Data: []byte("[Service]\nExecStart=/usr/bin/worker --coordinator ${COORDINATOR} --id %H-%i\nRestart=no\n")},
		"b.sbatch":  {Data: []byte("coordinator --data \"$data\" 2>\"$log\" &\n# worker --no\nsrun --x=0 worker \\\n  --slots 2 &\necho warptune --no\nwarptune export -o \"$output\" || exit\n")},
		"c.yaml":    {Data: []byte("  - name: worker\n    command: [\"worker\"]\n    args:\n    - --a=1\n    - \"--b\"\n    - \"x:7070\"\n    other:\n    - --c\n")},
		"d.md":      {Data: []byte("worker --no\n```sh\nworker --yes # so\n```\n```\nworker --no\n```\n")},
	}
	want := map[string]string{
		"a.service": "[{a.service worker [--coordinator node1:7070 --id host-1]}]",
		"b.sbatch":  "[{b.sbatch coordinator [--data /data]} {b.sbatch worker [--slots 2]} {b.sbatch warptune [export -o /data/table.json]}]",
		"c.yaml":    "[{c.yaml worker [--a=1 --b x:7070]}]",
		"d.md":      "[{d.md worker [--yes]}]",
	}
	for file, text := range want {
		if got, err := CommandLines(files, file); err != nil || fmt.Sprint(got) != text {
			t.Errorf("%s: %v %v, want %s", file, got, err, text)
		}
	}
	if _, err := CommandLines(files, "*.none"); err == nil {
		t.Error("a pattern without files is no error")
	}
}
