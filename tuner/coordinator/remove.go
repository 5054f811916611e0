package coordinator

import (
	"time"

	"github.com/warptune/warptune/tuner"
)

// removeChunk is how many results of a deleted sweep go in one transaction.
const removeChunk = 2000

// removeSome removes a piece of a deleted sweep, or the bundles that none is of
// any more.
func (c *Coordinator) removeSome() error {
	num, ok := c.nextDoomed()
	if !ok {
		if err := c.dropBundles(); err != nil {
			return err
		}
		return c.compactSome()
	}
	more, err := c.store.Remove(num, removeChunk)
	if err != nil {
		return c.fail(err)
	}
	if !more {
		c.mu.Lock()
		c.doomed = c.doomed[1:]
		c.unused, c.loose = true, true
		c.mu.Unlock()
		if s, ok := c.board.remove(num); ok {
			c.log.Info("sweep deleted", "sweep", s.ID)
		}
	}
	c.signal()
	return nil
}

// compactSome has the store make room of what removed sweeps have left, bit by bit.
func (c *Coordinator) compactSome() error {
	c.mu.Lock()
	due := c.loose && c.down == nil
	c.mu.Unlock()
	if !due {
		return nil
	}
	more, err := c.store.Compact()
	if err != nil {
		return c.fail(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loose = more; more {
		c.signal()
	}
	return nil
}

// nextDoomed returns the sweep to remove next. One whose end is not durable yet
// waits: what is left of it after a crash would not be what its record says.
func (c *Coordinator) nextDoomed() (num uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.doomed) == 0 || c.down != nil {
		return 0, false
	}
	s, ok := c.board.number(c.doomed[0])
	return c.doomed[0], ok && s.State == tuner.Deleting
}

// dropBundles removes the bundles that no sweep is of, once a sweep was removed.
// While somebody submits one it waits: for the next change, or the next tick.
func (c *Coordinator) dropBundles() error {
	c.mu.Lock()
	due := c.unused && c.down == nil
	c.mu.Unlock()
	if !due || len(c.Damaged()) > 0 || !c.submitting.TryLock() {
		return nil
	}
	defer c.submitting.Unlock()
	named := c.board.bundles()
	c.mu.Lock()
	for digest := range c.fresh {
		named[digest] = true
	}
	c.unused = false
	c.mu.Unlock()
	if err := c.store.DropBundles(named); err != nil {
		return c.fail(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for digest := range c.sizes {
		if _, fresh := c.fresh[digest]; !named[digest] && !fresh {
			delete(c.sizes, digest)
		}
	}
	return nil
}

// bundleGrace is how long a bundle is kept that no sweep is of: somebody is about to
// submit one.
const bundleGrace = 10 * time.Minute

// ageBundlesLocked has those dropped that nobody has submitted a sweep of.
func (c *Coordinator) ageBundlesLocked() {
	for digest, put := range c.fresh {
		if c.opts.Now().Sub(put.when) >= bundleGrace {
			delete(c.fresh, digest)
			c.unused = true
		}
	}
}

// fail notes that the store could not be changed, and returns why.
func (c *Coordinator) fail(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failLocked(err)
	return c.down
}
