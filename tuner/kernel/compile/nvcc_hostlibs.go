package compile

import (
	"embed"
	"io/fs"
	"path"
)

// hostLibraries are headers of NVIDIA's libraries for the host that nvcc's packages do not have, and files with kernels
// often include. They are looked for after all others, so those that are installed come first.
//
//go:embed hostlibs
var hostLibraries embed.FS

// mountHostLibraries writes them to the directory of a compilation and returns nvcc's options for them.
func (w workdir) mountHostLibraries() ([]string, error) {
	files, err := fs.ReadDir(hostLibraries, "hostlibs")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := hostLibraries.ReadFile(path.Join("hostlibs", f.Name()))
		if err != nil {
			return nil, err
		}
		if err := w.write("hostlibs/"+f.Name(), text); err != nil {
			return nil, err
		}
	}
	return []string{"-Xcompiler", "-idirafter," + w.path("hostlibs")}, nil
}
