package microbench

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/warptune/warptune/deploy/calibrate/microbench"
	"github.com/warptune/warptune/simengine/arch/calibrate"
)

// profiledProgram reads counters: it is compiled by nvcc and runs under ncu.
const profiledProgram = "residency"

// profileLimit ends nvcc and ncu if they hang.
const profileLimit = 5 * time.Minute

// profiled is how many bytes of DRAM the last of three launches over a footprint reads.
func profiled(ctx context.Context) (calibrate.Results, error) {
	for _, tool := range []string{"nvcc", "ncu"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("it needs nvcc and ncu (Nsight Compute) in PATH: there is no %s", tool)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, profileLimit)
	defer cancel()
	dir, err := os.MkdirTemp("", "warptune-microbench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, microbench.Sources); err != nil {
		return nil, err
	}
	program := filepath.Join(dir, profiledProgram)
	if _, err := output(ctx, "nvcc", "-O3", "-std=c++17", "-arch=native", "-o", program, program+".cu"); err != nil {
		return nil, err
	}
	said, err := output(ctx, program, "profiled")
	if err != nil {
		return nil, err
	}
	launches, err := calibrate.Parse(said)
	if err != nil {
		return nil, err
	}
	reads := 0 // they come first
	for reads < len(launches) && launches[reads].Params["mode"] == "read" {
		reads++
	}
	counted, err := output(ctx, "ncu", "--csv", "--clock-control", "none", "--cache-control", "none", "--print-units", "base",
		"--launch-count", strconv.Itoa(reads*launchesALine), "--metrics", dramRead, program, "profiled")
	if err != nil {
		return nil, err
	}
	return join(launches, counted)
}

// output runs a program.
func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		text := strings.Join(strings.Fields(said.String()+" "+out.String()), " ")
		return nil, fmt.Errorf("%s: %w: %.300s", filepath.Base(name), err, text)
	}
	return out.Bytes(), nil
}

// dramRead is ncu's counter.
const dramRead = "dram__bytes_read.sum"

// launchesALine is how many launches a line of the program is of; the last is the one meant.
const launchesALine = 3

// join gives the lines of the program what ncu counted of their launches.
func join(lines calibrate.Results, counted []byte) (calibrate.Results, error) {
	if at := bytes.Index(counted, []byte(`"ID"`)); at >= 0 {
		counted = counted[at:] // what the profiled program said comes first
	}
	rows, err := csv.NewReader(bytes.NewReader(counted)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("ncu's table cannot be read: %w", errors.Join(err, errors.New("no rows")))
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	var all calibrate.Results
	for _, row := range rows[1:] {
		id, err := strconv.Atoi(row[column["ID"]])
		if err != nil || row[column["Metric Name"]] != dramRead || id%launchesALine != launchesALine-1 || id/launchesALine >= len(lines) {
			continue
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(row[column["Metric Value"]], ",", ""), 64)
		if err != nil {
			return nil, fmt.Errorf("ncu's table cannot be read: %w", err)
		}
		all = append(all, calibrate.Result{Name: profiledProgram + ".dram_read", Params: lines[id/launchesALine].Params, Value: v, Unit: "bytes"})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("ncu counted no %s: %.200s", dramRead, counted)
	}
	return all, nil
}
