package main

import (
	"bytes"
	"regexp"
	"strings"
)

// groups is the table of groups in what fidelity prints of a level, with the line behind it.
var groups = regexp.MustCompile(`(?m)^\| group \|.*\n(?:\|.*\n)+\n?`)

// beside makes one table of those of level cycle and level model and takes it out of both texts. A cell has both
// figures, or the one that they have in common. Texts whose tables are not of the same groups stay as they are.
func beside(cycle, model []byte) (restCycle, restModel, table []byte) {
	a, b := groups.Find(cycle), groups.Find(model)
	rows, others := bytes.Split(bytes.TrimSpace(a), []byte("\n")), bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	if a == nil || len(rows) != len(others) {
		return cycle, model, nil
	}
	for i := range rows {
		row, other := cells(rows[i]), cells(others[i])
		if len(row) != len(other) || row[0] != other[0] {
			return cycle, model, nil
		}
		for k := range row {
			row[k] = both(row[k], other[k])
		}
		table = append(table, "| "+strings.Join(row, " | ")+" |\n"...)
	}
	return bytes.Replace(cycle, a, nil, 1), bytes.Replace(model, b, nil, 1), table
}

func cells(row []byte) []string {
	out := strings.Split(strings.Trim(string(row), "|"), "|")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// both is a cell of two figures, with the unit behind them.
func both(cycle, model string) string {
	if cycle == model {
		return cycle
	}
	if figure, percent := strings.CutSuffix(cycle, " %"); percent && strings.HasSuffix(model, " %") {
		cycle = figure
	}
	return cycle + " / " + model
}
