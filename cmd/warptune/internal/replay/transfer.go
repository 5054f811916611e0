package replay

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/replay"
	"github.com/warptune/warptune/search/seeded"
)

// donors are recorded spaces from which others begin.
type donors []donor

type donor struct {
	file string
	*replay.Record
}

func openDonors(a *cli.App, names []string) (donors, error) {
	var all donors
	for _, name := range names {
		records, err := input.OpenRecorded(a, name, 1)
		if err != nil {
			return nil, err
		}
		for _, rec := range records {
			all = append(all, donor{name, rec})
		}
	}
	return all, nil
}

// of says whether some are of the kernel of a recorded space.
func (d donors) of(rec *replay.Record) bool {
	return slices.ContainsFunc(d, func(from donor) bool { return kernelOf(from.Name) == kernelOf(rec.Name) })
}

// predict has what was measured in the first donor of the same kernel that is not the space itself stand
// for predictions of a file's recorded space.
func (d donors) predict(file string, rec *replay.Record) {
	for _, from := range d {
		if from.file == file && from.Name == rec.Name || kernelOf(from.Name) != kernelOf(rec.Name) {
			continue
		}
		for i := range rec.Space.Size() {
			if k, ok := from.Space.IndexOf(rec.Space.At(i)); ok && !math.IsInf(from.Time[k], 1) {
				rec.Predicted[i] = from.Time[k]
			}
		}
		return
	}
}

// best are the configurations that a sweep of a file's recorded space would begin
// with: those that are best in the first donors that are of the same kernel and
// not the space itself.
func (d donors) best(file string, rec *replay.Record) []search.Config {
	var out []search.Config
	sources := 0
	for _, from := range d {
		if from.file == file && from.Name == rec.Name || kernelOf(from.Name) != kernelOf(rec.Name) || sources == seeded.Sources {
			continue
		}
		sources++
		order := make([]int64, len(from.Time))
		for i := range order {
			order[i] = int64(i)
		}
		slices.SortStableFunc(order, func(a, b int64) int { return cmp.Compare(from.Time[a], from.Time[b]) })
		for _, i := range order[:min(seeded.Best, from.Valid())] {
			out = append(out, from.Space.At(i))
		}
	}
	return out
}

// kernelOf is the kernel in a recorded space's name, such as
// "convolution-RTX_Titan" or "transpose_tiled n=2048".
func kernelOf(name string) string {
	if i := strings.IndexAny(name, "- "); i >= 0 {
		return name[:i]
	}
	return name
}
