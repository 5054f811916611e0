package cluster

import "github.com/warptune/warptune/tuner/kernel"

// keptBundles bounds the definitions that are kept, in bytes of their bundles; the
// last one is kept in any case.
const keptBundles = 128 << 20

// definitions are those of the bundles that were opened last.
type definitions struct {
	most   int          // bytes that are kept
	opened []definition // the latest last
	bytes  int          // of their bundles
}

type definition struct {
	digest string
	bytes  int
	kernel *kernel.Definition
}

// open returns the definition in a bundle. A few are in use at a time, so they are
// looked through one by one.
func (d *definitions) open(digest string, bundle []byte) (*kernel.Definition, error) {
	for i, o := range d.opened {
		if o.digest == digest {
			copy(d.opened[i:], d.opened[i+1:])
			d.opened[len(d.opened)-1] = o
			return o.kernel, nil
		}
	}
	def, _, err := kernel.OpenBundle(bundle)
	if err != nil {
		return nil, err
	}
	d.opened, d.bytes = append(d.opened, definition{digest, len(bundle), def}), d.bytes+len(bundle)
	drop := 0
	for ; d.bytes > d.most && drop < len(d.opened)-1; drop++ {
		d.bytes -= d.opened[drop].bytes
	}
	d.opened = append([]definition(nil), d.opened[drop:]...)
	return def, nil
}
