package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A sweep that begins with what another tuner found asks for that first, and
// finds at once what it takes others long to.
func TestWarmStart(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cache := file("cache.json", `{"device_name":"NVIDIA A100","kernel_name":"copy","tune_params_keys":["BLOCK_SIZE","ITEMS"],"cache":{
		"64,8":{"BLOCK_SIZE":64,"ITEMS":8,"time":2.0},"512,2":{"BLOCK_SIZE":512,"ITEMS":2,"time":1.0},"7,1":{"BLOCK_SIZE":7,"ITEMS":1,"time":0.5},`)
	db := filepath.Join(dir, "x.db")
	tune := append([]string{"tune", "copy", "--strategy", "random", "--budget", "2", "--db", db, "--warm-start", cache}, quick...)
	r := warptune(t, tune...).ok(t)
	if !strings.Contains(r.stderr, "(copy on NVIDIA A100): 1 of 3 configurations with a time are not in this space") {
		t.Errorf("it says %s", r.stderr)
	}
	if !strings.Contains(r.stderr, "(copy on NVIDIA A100): begins with the best 2 of 2 configurations") {
		t.Errorf("what it begins with it does not say: %s", r.stderr)
	}
	all := warptune(t, "export", "--all", "--format", "csv", "--db", db).ok(t).stdout
	if !strings.Contains(all, "BLOCK_SIZE=512,ITEMS=2") || !strings.Contains(all, "BLOCK_SIZE=64,ITEMS=8") || strings.Count(all, "\n") != 3 {
		t.Errorf("evaluated:\n%s", all)
	}
	if again := warptune(t, tune...).ok(t); again.stdout != r.stdout || !strings.Contains(again.stderr, "answered from the database") {
		t.Errorf("again: %s%s", again.stderr, again.stdout)
	}
	for name, want := range map[string]string{
		"absent.json":            "no such file",
		file("empty.json", "{}"): "neither a T4 results file",
		file("other.json", `{"tune_params_keys":["ITEMS"],"cache":{"1":{"ITEMS":1,"time":1.0}}}`):                                                    "no parameter BLOCK_SIZE",
		file("foreign.json", `{"kernel_name":"reduce","device_name":"A100","tune_params_keys":["N"],"cache":{"1":{"N":1,"time":1.0}}}`):              `foreign.json (reduce on A100): the file has none of the parameters BLOCK_SIZE, ITEMS (it has N): is it of another kernel?`,
		file("failed.json", `{"tune_params_keys":["BLOCK_SIZE","ITEMS"],"cache":{"64,1":{"BLOCK_SIZE":64,"ITEMS":1,"time":"RuntimeFailedConfig"}}}`): "none of its 1 configurations has a time",
		file("none.json", `{"tune_params_keys":["BLOCK_SIZE","ITEMS"],"cache":{"1,1":{"BLOCK_SIZE":1,"ITEMS":1,"time":1.0}}}`):                       "none of its 1 configurations is in this space",
	} {
		if r := warptune(t, append([]string{"tune", "copy", "--db", db, "--warm-start", name}, quick...)...); r.code != exitFailed || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit status %d: %s; want %q", name, r.code, r.stderr, want)
		}
	}
}
