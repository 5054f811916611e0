package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a wall grants, in Landlock's words.
const (
	readFile  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	readTree  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	workTree  = readTree | writeFile | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO
	// handled is everything that the first version of Landlock can refuse.
	handled = workTree | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// landlock returns the version of Landlock that the kernel has, 0: none.
var landlock = sync.OnceValue(func() int {
	v, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(v)
})

// start starts a command behind the wall; nil is none.
func (w *Wall) start(cmd *exec.Cmd) error {
	if w == nil || landlock() == 0 {
		return cmd.Start()
	}
	started := make(chan error)
	go func() {
		// A new process is held to what the thread is that makes it. This one is
		// never unlocked, so that it ends with the goroutine.
		runtime.LockOSThread()
		err := w.enter()
		if err == nil {
			err = cmd.Start()
		}
		started <- err
	}()
	return <-started
}

// enter puts the calling thread behind the wall, for ever.
func (w *Wall) enter() error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	work := uint64(workTree)
	if v := landlock(); v >= 2 { // renaming between directories
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
		work |= unix.LANDLOCK_ACCESS_FS_REFER
		if v >= 3 {
			attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
			work |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
		}
		if v >= 4 { // no connection anywhere
			attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
			size += unsafe.Sizeof(attr.Handled_access_net)
		}
		if v >= 6 { // no signal to others, no socket of theirs
			attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
			size += unsafe.Sizeof(attr.Scoped)
		}
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("wall off a compiler: %w", errno)
	}
	defer unix.Close(int(fd))
	grants := []struct {
		path   string
		access uint64
	}{{w.work, work}, {os.DevNull, readFile | writeFile | attr.Handled_access_fs&unix.LANDLOCK_ACCESS_FS_TRUNCATE}}
	for _, path := range w.read {
		grants = append(grants, struct {
			path   string
			access uint64
		}{path, readTree})
	}
	for _, g := range grants {
		if err := grantPath(int(fd), g.path, g.access); err != nil {
			return fmt.Errorf("wall off a compiler: %s: %w", g.path, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("wall off a compiler: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("wall off a compiler: %w", errno)
	}
	return nil
}

// grantPath grants access to a file or what is below a directory; what does not
// exist needs none.
func grantPath(ruleset int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= readFile | writeFile | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
