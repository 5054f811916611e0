package store

import "github.com/warptune/warptune/tuner"

// Failing is a Store whose writes fail when Fail says so, to show what its
// users do then. The write is not done.
type Failing struct {
	Store
	// Fail returns the error of the next write, nil if it is to be done.
	Fail func() error
}

// Commit is in Store.
func (f *Failing) Commit(c *tuner.Changes) error {
	if err := f.Fail(); err != nil {
		return err
	}
	return f.Store.Commit(c)
}

// PutBundle is in Store.
func (f *Failing) PutBundle(digest string, content []byte, did tuner.Act) (bool, error) {
	if err := f.Fail(); err != nil {
		return false, err
	}
	return f.Store.PutBundle(digest, content, did)
}

// Remove is in Store.
func (f *Failing) Remove(sweep uint64, limit int) (bool, error) {
	if err := f.Fail(); err != nil {
		return false, err
	}
	return f.Store.Remove(sweep, limit)
}

// Compact is in Store.
func (f *Failing) Compact() (bool, error) {
	if err := f.Fail(); err != nil {
		return false, err
	}
	return f.Store.Compact()
}

// DropBundles is in Store.
func (f *Failing) DropBundles(named map[string]bool) error {
	if err := f.Fail(); err != nil {
		return err
	}
	return f.Store.DropBundles(named)
}
