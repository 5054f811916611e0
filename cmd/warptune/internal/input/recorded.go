package input

import (
	"fmt"
	"os"
	"strings"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/search/replay"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/exchange"
)

// OpenRecorded reads the spaces of a file, whose name says what it is; of a file
// of many those with least configurations or more.
func OpenRecorded(a *cli.App, name string, least int) ([]*replay.Record, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch plain := strings.TrimSuffix(name, ".gz"); {
	case strings.HasSuffix(plain, ".jsonl"):
		return replay.ReadRecords(name, f, least)
	case strings.HasSuffix(plain, ".json"):
		run, err := exchange.Read(name, f)
		if err != nil {
			return nil, err
		}
		a.Odd(name, run.Odd.String())
		rec, err := recordedRun(name, run)
		return []*replay.Record{rec}, err
	}
	rec, odd, err := replay.ReadCSV(name, f)
	a.Odd(name, odd)
	if err != nil && !strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".csv") {
		err = fmt.Errorf("%w (read as CSV, as its name ends neither in .json, as other tuners' files do, nor in .jsonl)", err)
	}
	return []*replay.Record{rec}, err
}

// recordedRun is another tuner's run as a recorded space.
func recordedRun(name string, run *exchange.Run) (*replay.Record, error) {
	rows := make([]replay.Row, len(run.Trials))
	for i := range run.Trials {
		t := &run.Trials[i]
		rows[i] = replay.Row{Time: t.TimeUS, Valid: t.Validity == tuner.Correct}
		for _, v := range t.Config {
			rows[i].Values = append(rows[i].Values, v.String())
		}
	}
	return replay.New(replay.Title(name), run.Params, rows)
}
