package kernel

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
	"github.com/warptune/warptune/tuner/kernel/recorded"
)

// LoadFolder reads a folder of launch records, launches.jsonl or launches.jsonl.gz, with their
// PTX in ptx/, ptx.zip or ptx.tar.zst: one kernel for each group.
func LoadFolder(dir string) ([]*Definition, error) {
	lines, err := readLaunchFile(dir)
	if err != nil {
		return nil, err
	}
	ptx, done, err := openFolderPTX(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	files := call.Memory{}
	kernels, _, err := Launches(lines, files)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	size := 0
	for _, d := range kernels {
		if err := cmp.Or(d.listed.wrong(), d.listed.readPTX(ptx, files, &size)); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	return kernels, nil
}

// IsLaunchFolder reports whether a directory holds launch records.
func IsLaunchFolder(dir string) bool {
	_, err := launchFile(dir)
	return err == nil
}

// launchFile is the path of a folder's launch records.
func launchFile(dir string) (string, error) {
	for _, name := range []string{launchesFile, launchesFile + ".gz"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: is a directory without %s: name a definition's JSON file in it, or a folder of launch records", dir, launchesFile)
}

func readLaunchFile(dir string) ([]LaunchLine, error) {
	path, err := launchFile(dir)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := launchLines(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

// maxLaunches bounds a file of launch records in bytes, unpacked.
const maxLaunches = 256 << 20

// eachLine calls f for each line of a file, which may be gzipped, that is not empty.
func eachLine(from io.Reader, f func(number int, text []byte)) error {
	br := bufio.NewReader(from)
	if magic, _ := br.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		gz, err := gzip.NewReader(br)
		if err != nil {
			return fmt.Errorf("not a valid gzip file: %w", err)
		}
		defer gz.Close()
		br = bufio.NewReader(gz)
	}
	limited := &io.LimitedReader{R: br, N: maxLaunches}
	sc := bufio.NewScanner(limited)
	sc.Buffer(nil, maxLaunchLine)
	n := 0
	for sc.Scan() {
		if n++; len(bytes.TrimSpace(sc.Bytes())) > 0 {
			f(n, sc.Bytes())
		}
	}
	switch err := sc.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d has more than %d bytes", n+1, maxLaunchLine)
	case err != nil:
		return fmt.Errorf("line %d: %w: is the file cut off?", n+1, err)
	case limited.N <= 0:
		return fmt.Errorf("it has more than %d MiB", maxLaunches>>20)
	}
	return nil
}

// openFolderPTX opens where a folder of launch records keeps its PTX.
func openFolderPTX(dir string) (fs.FS, func(), error) {
	for _, name := range []string{recorded.PTXFolder, recorded.PTXFolder + ".zip", recorded.PTXFolder + ".tar.zst"} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return ptxfiles.Open(path)
		}
	}
	return nil, nil, fmt.Errorf("%s: none of %[2]s/, %[2]s.zip and %[2]s.tar.zst is in it, with the PTX of the launch records", dir, recorded.PTXFolder)
}

// maxFolderPTX bounds the PTX of a folder in bytes, unpacked.
const maxFolderPTX = 1 << 30

// readPTX reads the records' PTX, of which size bytes are read already.
func (l *listing) readPTX(ptx fs.FS, files call.Memory, size *int) error {
	for _, r := range l.records {
		if r.PTX == "" || files[r.PTXFile()] != nil {
			continue
		}
		text, err := readPTXFile(ptx, r.PTX+".ptx")
		if err != nil {
			return fmt.Errorf("line %d: %w", r.Line, err)
		}
		files[r.PTXFile()] = text
		if *size += len(text); *size > maxFolderPTX {
			return fmt.Errorf("line %d: the PTX has more than %d MiB", r.Line, maxFolderPTX>>20)
		}
	}
	return nil
}

func readPTXFile(ptx fs.FS, name string) ([]byte, error) {
	f, err := ptx.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no %s is with the PTX", name)
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, call.MaxFile+1))
	if err == nil && len(text) > call.MaxFile {
		err = fmt.Errorf("more than the %d MiB that PTX may have", call.MaxFile>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) == 0 {
		text = []byte{} // it is there
	}
	return text, nil
}
