package worker_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkYardstick is what the machine gives at the moment, beside which other figures are to be read. It says
// how much of its processors a process gets that wants all of them, how fast they are, and how long a sync of a
// page takes. It is no measure of warptune.
func BenchmarkYardstick(b *testing.B) {
	const spell = 2 * time.Second
	for b.Loop() {
		began, cpu := time.Now(), cpuTime()
		var all sync.WaitGroup
		var mu sync.Mutex
		hashed := 0
		for range runtime.GOMAXPROCS(0) {
			all.Go(func() {
				block := make([]byte, 1<<20)
				n := 0
				for time.Since(began) < spell {
					sum := sha256.Sum256(block)
					copy(block, sum[:])
					n++
				}
				mu.Lock()
				defer mu.Unlock()
				hashed += n
			})
		}
		all.Wait()
		spent := (cpuTime() - cpu).Seconds()
		b.ReportMetric(spent/time.Since(began).Seconds()/float64(runtime.GOMAXPROCS(0)), "share-of-cpu")
		b.ReportMetric(float64(hashed)/spent, "SHA-256-MiB/cpu-s")

		f, err := os.OpenFile(filepath.Join(b.TempDir(), "page"), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		var took []time.Duration
		page := make([]byte, 4096)
		for range 200 {
			began := time.Now()
			if _, err := f.WriteAt(page, 0); err != nil {
				b.Fatal(err)
			}
			if err := syscall.Fdatasync(int(f.Fd())); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2].Seconds()*1000, "sync-p50-ms")
		b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "sync-p99-ms")
	}
}
