// Package toolkit finds the programs of CUDA's toolkits, wherever they were installed from.
package toolkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// NVCCInstall is the one line that installs nvcc for a user, without root and without a GPU.
const NVCCInstall = "pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-crt nvidia-nvvm"

// Programs are the places besides PATH where a program of CUDA's toolkit is looked for: CUDA's customary
// place, Conda's environment, and where NVIDIA's packages of the Python package index put it. The latter are those
// of an environment of Python, of the python3 in PATH, and of the user. The newest release comes first among those
// of one place.
func Programs(name string) []string {
	var list []string
	add := func(patterns ...string) {
		for _, p := range patterns {
			found, _ := filepath.Glob(p) // the patterns are well formed
			slices.SortFunc(found, func(a, b string) int { return natural(b, a) })
			list = append(list, found...)
		}
	}
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if dir := os.Getenv(variable); filepath.IsAbs(dir) {
			list = append(list, filepath.Join(dir, "bin", name))
		}
	}
	list = append(list, "/usr/local/cuda/bin/"+name, "/opt/cuda/bin/"+name)
	add("/usr/local/cuda-*/bin/" + name)
	var prefixes []string
	for _, variable := range []string{"CONDA_PREFIX", "VIRTUAL_ENV"} {
		if dir := os.Getenv(variable); filepath.IsAbs(dir) {
			prefixes = append(prefixes, dir)
			list = append(list, filepath.Join(dir, "bin", name))
		}
	}
	if python, err := exec.LookPath("python3"); err == nil {
		prefixes = append(prefixes, filepath.Dir(filepath.Dir(python)))
	}
	if home, err := os.UserHomeDir(); err == nil {
		prefixes = append(prefixes, filepath.Join(home, ".local"))
	}
	prefixes = append(prefixes, "/usr/local", "/usr")
	if runtime.GOOS == "windows" {
		return list
	}
	for _, prefix := range prefixes {
		for _, packages := range []string{"site-packages", "dist-packages"} {
			base := filepath.Join(prefix, "lib", "python3*", packages, "nvidia")
			add(filepath.Join(base, "cu*", "bin", name), filepath.Join(base, "cuda_nvcc", "bin", name))
		}
	}
	return slices.Compact(list)
}

// natural compares names, and numbers in them by their value.
func natural(a, b string) int {
	for a != "" && b != "" {
		i, j := digits(a), digits(b)
		if i > 0 && j > 0 {
			if i != j {
				return i - j
			}
			if a[:i] != b[:j] {
				return compareText(a[:i], b[:j])
			}
			a, b = a[i:], b[j:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func compareText(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}
