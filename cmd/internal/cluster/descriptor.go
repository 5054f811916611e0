package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
)

// maxDescriptor bounds the text of a descriptor, in bytes; the built-in ones have 10 KiB.
const maxDescriptor = 1 << 20

// Arch is an architecture as a user names it.
type Arch struct {
	*arch.Descriptor
	// Text is the file it was read from; nil: it is a built-in one.
	Text []byte
}

// LoadArch finds an architecture by name or, if name ends in .json or has a
// separator of paths in it, reads the descriptor file that it is the path of.
func LoadArch(name string) (Arch, error) {
	if !strings.HasSuffix(name, ".json") && !strings.ContainsRune(name, filepath.Separator) {
		d, err := arch.Load(name)
		return Arch{Descriptor: d}, err
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return Arch{}, fmt.Errorf("architecture descriptor: %w", err)
	case !info.Mode().IsRegular():
		return Arch{}, fmt.Errorf("architecture descriptor %s: is no regular file", name)
	case info.Size() > maxDescriptor:
		return Arch{}, fmt.Errorf("%s: %d bytes are more than the %d of a descriptor", name, info.Size(), maxDescriptor)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return Arch{}, fmt.Errorf("architecture descriptor: %w", err)
	}
	d, err := arch.Parse(text)
	if err != nil {
		return Arch{}, fmt.Errorf("%s: %w", name, err)
	}
	if same, err := arch.Load(d.Name); err == nil && same.Digest == d.Digest {
		return Arch{Descriptor: same}, nil
	}
	return Arch{d, text}, nil
}

// ownName says that a descriptor other than the built-in ones has the name of one: in
// tables nobody could tell them apart.
func ownName(d *arch.Descriptor) error {
	if _, err := arch.Load(d.Name); err != nil {
		return nil //nolint:nilerr // the name is its own
	}
	return fmt.Errorf("name: %q is a built-in architecture with other figures: give this one a name of its own", d.Name)
}

// ForSweeps says why sweeps cannot be for the architecture, nil if they can.
func (a *Arch) ForSweeps() error {
	if a.Text == nil {
		return nil
	}
	return ownName(a.Descriptor)
}

// DescriptorOf is the architecture that a spec names, by its descriptor's text if
// that travels with it. What is not the one that the spec pins is refused.
func DescriptorOf(spec *tuner.Spec, text []byte) (*arch.Descriptor, error) {
	if spec.Descriptor == "" {
		return arch.Load(spec.Arch)
	}
	if len(text) > maxDescriptor {
		return nil, fmt.Errorf("descriptor %.12s: %d bytes are more than the %d of a descriptor", spec.Descriptor, len(text), maxDescriptor)
	}
	d, err := arch.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("descriptor %.12s: %w", spec.Descriptor, err)
	case d.Name != spec.Arch:
		return nil, fmt.Errorf("descriptor %.12s: name: it is of %q, the sweep is for %q", spec.Descriptor, d.Name, spec.Arch)
	case ownName(d) != nil:
		return nil, fmt.Errorf("descriptor %.12s: %w", spec.Descriptor, ownName(d))
	case d.Digest != spec.ArchDigest:
		return nil, fmt.Errorf("descriptor %.12s: its figures have the digest %s, the sweep is for %s: it is another descriptor of %s, or of another version of warptune",
			spec.Descriptor, d.Digest, spec.ArchDigest, d.Name)
	}
	return d, nil
}

// maxDescriptors is how many parsed descriptors are kept.
const maxDescriptors = 64

// descriptors are those that came with sweeps, parsed, by their text's digest. It is
// safe for concurrent use; the zero value is empty.
type descriptors struct {
	mu     sync.Mutex
	parsed map[string]*arch.Descriptor
}

// of is DescriptorOf.
func (d *descriptors) of(spec *tuner.Spec, text []byte) (*arch.Descriptor, error) {
	if spec.Descriptor == "" {
		return arch.Load(spec.Arch)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.parsed[spec.Descriptor]; known != nil && known.Name == spec.Arch && known.Digest == spec.ArchDigest {
		return known, nil
	}
	parsed, err := DescriptorOf(spec, text)
	if err != nil {
		return nil, err
	}
	if d.parsed == nil || len(d.parsed) >= maxDescriptors {
		d.parsed = map[string]*arch.Descriptor{}
	}
	d.parsed[spec.Descriptor] = parsed
	return parsed, nil
}
