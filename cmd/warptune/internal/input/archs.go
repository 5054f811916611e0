package input

import (
	"errors"

	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/simengine/arch"
)

// ArchHelp is the help of a flag that takes an architecture, for what it is.
func ArchHelp(what string) string {
	return what + ": a name (see \"warptune archs\") or a descriptor FILE.json, as calibrate writes one"
}

// ArchNamed is the name that sweeps for an architecture have, which is given by name
// or as a descriptor file, and of a file the digest. A name of none is taken as it is:
// results outlive descriptors.
func ArchNamed(text string) (name, digest string, err error) {
	if text == "" {
		return "", "", nil
	}
	d, err := cluster.LoadArch(text)
	var unknown *arch.UnknownError
	switch {
	case errors.As(err, &unknown):
		return text, "", nil
	case err != nil:
		return "", "", cli.Usage(err)
	case d.Text != nil:
		digest = d.Digest
	}
	return d.Name, digest, nil
}
