package catalogue

import (
	"fmt"
	"slices"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/source"
)

// CompileVariant is one distinct compilation of a kernel's space: the register
// cap, the carve-out and other parameters that the source never names do not
// multiply them.
type CompileVariant struct {
	Macros  string       // canonical, as in Variant
	Compile call.Compile // of the first configuration that needs it
}

// CompileVariants enumerates the compile variants of a kernel's own space in
// enumeration order, and gives the digest of its source.
func CompileVariants(k *Kernel) (digest string, variants []CompileVariant, err error) {
	def, err := k.Definition()
	if err != nil {
		return "", nil, err
	}
	space, err := def.Space(nil, nil)
	if err != nil {
		return "", nil, err
	}
	seen := map[string]bool{}
	for _, cfg := range space.All() {
		launch, err := def.Launch(cfg, nil)
		if err != nil {
			return "", nil, err
		}
		src, err := source.Read(launch.Compile)
		if err != nil {
			return "", nil, err
		}
		digest = src.Digest
		if key := src.MacroKey(); !seen[key] {
			seen[key] = true
			variants = append(variants, CompileVariant{Macros: key, Compile: launch.Compile})
		}
	}
	return digest, variants, nil
}

// Stale says why a kernel's archive does not fit its source and definition, "" when
// it does.
func Stale(k *Kernel) (why string, err error) {
	digest, variants, err := CompileVariants(k)
	if err != nil {
		return "", err
	}
	archive, err := k.Prebuilt()
	switch {
	case err != nil:
		return err.Error(), nil
	case archive.Source != digest:
		return "the source has changed", nil
	case len(archive.variants) != len(variants):
		return fmt.Sprintf("the archive holds %d variants, the space needs %d", len(archive.variants), len(variants)), nil
	}
	if i := slices.IndexFunc(variants, func(v CompileVariant) bool { return !archive.Has(v.Macros) }); i >= 0 {
		return "the archive lacks " + variants[i].Macros, nil
	}
	return "", nil
}
