// Package metrics writes a coordinator's statistics for Prometheus.
package metrics

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/warptune/warptune/tuner/coordinator"
)

// Handler returns a handler that writes a coordinator's statistics in
// Prometheus' text format, version 0.0.4.
func Handler(c *coordinator.Coordinator) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s := c.Stats()
		Write(w, &s)
	})
}

// Write writes statistics in Prometheus' text format.
func Write(w io.Writer, s *coordinator.Stats) {
	m := metrics{w}
	m.family("warptune_results_total", "counter", "Trials that ended, by validity.")
	m.byLabel("warptune_results_total", "validity", s.Results)
	m.one("warptune_results_reused_total", "counter", "Trials answered by stored outcomes.", s.Reused)
	m.one("warptune_leases_granted_total", "counter", "Leases granted.", s.Granted)
	m.one("warptune_leases_requeued_total", "counter", "Leases lost, returned, or ended in a worker's fault.", s.Requeued)
	m.one("warptune_commits_failed_total", "counter", "Commits that failed.", s.Failed)
	m.one("warptune_commit_records_total", "counter", "Records stored by commits.", s.Records)
	m.histogram("warptune_commit_seconds", "How long commits took.", &s.Histogram)
	m.family("warptune_sweeps", "gauge", "Sweeps, by state.")
	m.byLabel("warptune_sweeps", "state", s.Sweeps)
	m.one("warptune_trials_queued", "gauge", "Trials ready to be granted.", s.Queued)
	m.one("warptune_trials_left", "gauge", "Trials of live sweeps that have not ended.", s.Left)
	m.one("warptune_trials_leased", "gauge", "Trials leased to workers.", s.Leased)
	m.family("warptune_checks_total", "counter", "Outcomes found out once more by another worker, by whether it came to the same.")
	m.byLabel("warptune_checks_total", "result", map[string]int64{"agree": s.Checks.Agreed, "disagree": s.Checks.Disagreed})
	m.one("warptune_workers_distrusted", "gauge", "Workers that are not believed, because two others say otherwise.", s.Distrusted)
	m.family("warptune_worker_set_aside", "gauge", "1 for each worker that is set aside, because it fails at what it is given.")
	aside := map[string]int64{}
	for _, a := range s.Aside {
		aside[a.Worker] = 1
	}
	m.byLabel("warptune_worker_set_aside", "worker", aside)
	m.one("warptune_sweeps_incomplete", "gauge", "Sweeps that have completed without configurations that were given up.", s.Incomplete)
	m.family("warptune_workers", "gauge", "Workers heard of lately, by engine version.")
	m.byLabel("warptune_workers", "engine", s.Workers)
	m.one("warptune_worker_slots", "gauge", "Slots of workers that take trials.", s.Slots)
	m.one("warptune_calls_waiting", "gauge", "Calls of idle workers that are held.", s.Waiting)
	m.one("warptune_store_used_bytes", "gauge", "Bytes of the store that hold data.", s.Usage.Used)
	m.one("warptune_store_free_bytes", "gauge", "Bytes of the store that are free within its file.", s.Usage.Free)
	up := int64(1)
	if s.Down != "" {
		up = 0
	}
	m.one("warptune_store_writable", "gauge", "1 when changes can be stored.", up)
}

// metrics writes families of samples.
type metrics struct{ w io.Writer }

func (m metrics) family(name, kind, help string) {
	fmt.Fprintf(m.w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (m metrics) one(name, kind, help string, v int64) {
	m.family(name, kind, help)
	fmt.Fprintf(m.w, "%s %d\n", name, v)
}

// labelText escapes a label's value.
var labelText = strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n")

func (m metrics) byLabel(name, label string, values map[string]int64) {
	for _, k := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(m.w, "%s{%s=\"%s\"} %d\n", name, label, labelText.Replace(k), values[k])
	}
}

func (m metrics) histogram(name, help string, h *coordinator.Histogram) {
	m.family(name, "histogram", help)
	total := int64(0)
	for i, n := range h.Counts {
		total += n
		bound := "+Inf"
		if i < len(h.Bounds) {
			bound = fmt.Sprint(h.Bounds[i])
		}
		fmt.Fprintf(m.w, "%s_bucket{le=\"%s\"} %d\n", name, bound, total)
	}
	fmt.Fprintf(m.w, "%s_sum %g\n%s_count %d\n", name, h.Sum, name, total)
}
