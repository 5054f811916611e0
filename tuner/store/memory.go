package store

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/warptune/warptune/tuner"
)

// Memory is a Store that forgets. It is for tests, and for what need not
// outlive its process.
type Memory struct {
	id      string
	mu      sync.RWMutex
	token   uint64
	past    []tuner.Incarnation
	begun   []tuner.Act // the act of beginning, until the next write
	last    uint64
	sweeps  map[uint64]tuner.Sweep
	leases  map[uint64]map[int64]tuner.LeaseRecord
	results map[uint64]*table
	answers map[string]answer
	bests   map[string]tuner.Best
	bundles map[string][]byte
	acts    []tuner.Act
}

// answer says where an outcome is.
type answer struct {
	sweep uint64
	seq   int64
}

// table is the results of one sweep, in the order of seq once sorted.
type table struct {
	rows   []tuner.Result
	sorted bool
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		id: rand.Text(), sweeps: map[uint64]tuner.Sweep{}, leases: map[uint64]map[int64]tuner.LeaseRecord{}, results: map[uint64]*table{},
		answers: map[string]answer{}, bests: map[string]tuner.Best{}, bundles: map[string][]byte{},
	}
}

// ID is in Store.
func (m *Memory) ID() string { return m.id }

// Begin is in Store.
func (m *Memory) Begin(name string, did tuner.Act) ([]tuner.Incarnation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	past := ended(m.past, m.id, m.token)
	m.begun = []tuner.Act{did}
	m.past = append(slices.Clone(past), tuner.Incarnation{Name: name})
	return past, nil
}

// Numbers is in Store.
func (m *Memory) Numbers() (token, sweep uint64, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.token, m.last, nil
}

// Sweeps is in Store.
func (m *Memory) Sweeps() ([]tuner.Sweep, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []tuner.Sweep
	for _, num := range slices.Sorted(maps.Keys(m.sweeps)) {
		all = append(all, cloneSweep(m.sweeps[num]))
	}
	return all, nil
}

// SalvageSweeps is in Store.
func (m *Memory) SalvageSweeps() ([]tuner.Sweep, []uint64, error) {
	all, err := m.Sweeps()
	return all, nil, err
}

// Leases is in Store.
func (m *Memory) Leases(sweep uint64) ([]tuner.LeaseRecord, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := slices.Collect(maps.Values(m.leases[sweep]))
	slices.SortFunc(all, func(a, b tuner.LeaseRecord) int { return cmp.Compare(a.Seq, b.Seq) })
	return all, nil
}

// Results is in Store.
func (m *Memory) Results(sweep uint64, seq int64, limit int) ([]tuner.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.results[sweep]
	if t == nil {
		return nil, nil
	}
	t.sort()
	at, _ := t.find(seq)
	var page []tuner.Result
	for ; at < len(t.rows) && len(page) < min(limit, PageLimit); at++ {
		page = append(page, t.rows[at].Clone())
	}
	return page, nil
}

// Salvage is in Store.
func (m *Memory) Salvage(sweep uint64, seq int64, limit int) ([]tuner.Result, []int64, error) {
	page, err := m.Results(sweep, seq, limit)
	return page, nil, err
}

func (t *table) sort() {
	if !t.sorted {
		slices.SortFunc(t.rows, func(a, b tuner.Result) int { return cmp.Compare(a.Seq, b.Seq) })
		t.sorted = true
	}
}

// find returns where seq is or would be; the table must be sorted.
func (t *table) find(seq int64) (int, bool) {
	return slices.BinarySearchFunc(t.rows, seq, func(r tuner.Result, seq int64) int { return cmp.Compare(r.Seq, seq) })
}

// Answer is in Store.
func (m *Memory) Answer(key []byte) (Answer, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.answers[string(key)]
	t := m.results[a.sweep]
	if !ok || t == nil {
		return Answer{}, false, nil
	}
	t.sort()
	at, ok := t.find(a.seq)
	if !ok || t.rows[at].Abandoned {
		return Answer{}, false, nil
	}
	return Answer{a.sweep, t.rows[at].Clone()}, true, nil
}

// Digested is in Store.
func (m *Memory) Digested(digest string) (Answer, bool, error) {
	return m.Answer([]byte("digest " + digest))
}

// Best is in Store.
func (m *Memory) Best(kernel, arch string, problem []int64) (tuner.Best, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	b, ok := m.bests[string(bestKey(kernel, arch, problem))]
	if !ok {
		return tuner.Best{}, noBest(kernel, arch, problem)
	}
	return cloneBest(b), nil
}

// Bests is in Store.
func (m *Memory) Bests(kernel, arch string) ([]tuner.Best, int64, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []tuner.Best
	for _, k := range slices.Sorted(maps.Keys(m.bests)) {
		if bytes.HasPrefix([]byte(k), bestKey(kernel, arch, nil)) {
			all = append(all, cloneBest(m.bests[k]))
		}
	}
	return all, 0, nil
}

// Bundle is in Store.
func (m *Memory) Bundle(digest string) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	b, ok := m.bundles[digest]
	if !ok {
		return nil, noBundle(digest)
	}
	return slices.Clone(b), nil
}

// BundleSizes is in Store.
func (m *Memory) BundleSizes() (map[string]int64, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	sizes := map[string]int64{}
	for digest, content := range m.bundles {
		sizes[digest] = int64(len(content))
	}
	return sizes, nil
}

// Acts is in Store.
func (m *Memory) Acts(before uint64, limit int) (page []tuner.Act, _ []uint64, _ error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at := uint64(len(m.acts))
	if before > 0 {
		at = min(at, before-1)
	}
	for ; at > 0 && len(page) < min(limit, PageLimit); at-- {
		page = append(page, m.acts[at-1])
	}
	return page, nil, nil
}

// PutBundle is in Store.
func (m *Memory) PutBundle(digest string, content []byte, did tuner.Act) (added bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.bundles[digest]; ok && bytes.Equal(old, content) {
		return false, nil
	}
	m.bundles[digest] = slices.Clone(content)
	m.record([]tuner.Act{did})
	return true, nil
}

// record appends acts, after that of beginning.
func (m *Memory) record(acts []tuner.Act) {
	for _, a := range slices.Concat(m.begun, acts) {
		a.Num = uint64(len(m.acts)) + 1
		m.acts = append(m.acts, a)
	}
	m.begun = nil
}

// Compact is in Store: there is nothing to do.
func (m *Memory) Compact() (more bool, err error) { return false, nil }

// DropBundles is in Store.
func (m *Memory) DropBundles(named map[string]bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.bundles, func(digest string, _ []byte) bool { return !named[digest] })
	return nil
}

// Commit is in Store.
func (m *Memory) Commit(c *tuner.Changes) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, num := range c.Revoked {
		delete(m.leases, num)
	}
	for _, s := range c.Sweeps {
		m.sweeps[s.Num] = cloneSweep(s)
		m.last = max(m.last, s.Num)
	}
	for _, l := range c.Leases {
		if m.leases[l.Sweep] == nil {
			m.leases[l.Sweep] = map[int64]tuner.LeaseRecord{}
		}
		m.leases[l.Sweep][l.Seq] = l
	}
	for _, r := range c.Results {
		m.put(r)
	}
	for _, num := range c.Void {
		m.dropBests(num)
	}
	for _, b := range c.Bests {
		k := string(bestKey(b.Spec.Kernel, b.Spec.Arch, b.Spec.Problem))
		all := []tuner.Best{b}
		if old, ok := m.bests[k]; ok {
			all = append(all, old)
			if old.Spec.Scope() != b.Spec.Scope() {
				all = append(all, m.bestsOf(k)...)
			}
		}
		m.bests[k] = cloneBest(tuner.Stands(all))
	}
	m.record(c.Acts)
	m.token = max(m.token, c.Token)
	return nil
}

func (m *Memory) put(r tuner.ResultChange) {
	t := m.results[r.Sweep]
	if t == nil {
		t = &table{sorted: true}
		m.results[r.Sweep] = t
	}
	if n := len(t.rows); n > 0 && r.Result.Seq <= t.rows[n-1].Seq {
		t.sorted = false
	}
	t.rows = append(t.rows, r.Result.Clone())
	delete(m.leases[r.Sweep], r.Result.Seq)
	if r.Answer != nil {
		m.answers[string(r.Answer)] = answer{r.Sweep, r.Result.Seq}
		if d := r.Result.Outcome.Digest; d != "" {
			m.answers["digest "+d] = answer{r.Sweep, r.Result.Seq}
		}
	}
}

// Remove is in Store.
func (m *Memory) Remove(sweep uint64, limit int) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.results[sweep]; t != nil && len(t.rows) > limit {
		t.rows = slices.Clone(t.rows[:len(t.rows)-limit])
		return true, nil
	}
	delete(m.results, sweep)
	delete(m.leases, sweep)
	delete(m.sweeps, sweep)
	m.dropBests(sweep)
	return false, nil
}

// dropBests puts what other sweeps found in place of what one did.
func (m *Memory) dropBests(sweep uint64) {
	for k, b := range m.bests {
		if b.Sweep == sweep {
			delete(m.bests, k)
			if left := m.bestsOf(k); len(left) > 0 {
				m.bests[k] = tuner.Stands(left)
			}
		}
	}
}

// bestsOf returns what sweeps' records say of the bests under key k.
func (m *Memory) bestsOf(k string) []tuner.Best {
	var found []tuner.Best
	for _, num := range slices.Sorted(maps.Keys(m.sweeps)) {
		s := m.sweeps[num]
		if b, ok := tuner.BestOf(&s); ok && string(bestKey(s.Spec.Kernel, s.Spec.Arch, s.Spec.Problem)) == k {
			found = append(found, b)
		}
	}
	return found
}

// Backup is in Store: nothing can be backed up.
func (m *Memory) Backup(io.Writer) error {
	return tuner.Errorf(tuner.Conflict, "back up store", "it is in memory only")
}

// Close is in Store.
func (m *Memory) Close() error { return nil }

func noBest(kernel, arch string, problem []int64) error {
	return tuner.Errorf(tuner.NotFound, "find best", "no correct result is stored for kernel %q on %s%s", kernel, arch, problemText(problem))
}

func noBundle(digest string) error {
	return tuner.Errorf(tuner.NotFound, "read bundle", "no bundle with digest %q is stored: put it first", digest)
}

func problemText(problem []int64) string {
	if len(problem) == 0 {
		return ""
	}
	return fmt.Sprintf(" for problem %v", problem)
}
