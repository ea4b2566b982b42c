package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// folderPrefix begins the name of every Folder. What follows names who made it.
const folderPrefix = "samewire-"

// ownerName is the file of a Folder that its owner holds locked. Temporary names
// of programs do not begin like this.
const ownerName = ".samewire-owner"

// Folder is a temporary folder of this process: it holds secrets, and must not
// outlive whoever made it. Remove takes it away; where the process is killed
// before it could, the next Sweep of the same user does.
//
// Properties that an edit must keep:
//   - the owner's file has its name only once it is locked, so that a file with
//     that name and without a lock always is of an owner that died;
//   - the owner's file goes last: what a sweep could not remove is there for the
//     next.
type Folder struct {
	Path  string
	owner *os.File
}

// NewFolder makes a folder in the folder for temporary files.
func NewFolder(of string) (*Folder, error) {
	dir, err := os.MkdirTemp("", folderPrefix+of+"-")
	if err != nil {
		return nil, fmt.Errorf("make temporary folder: %w", err)
	}
	f := &Folder{Path: dir}
	if err := f.hold(); err != nil {
		return nil, errors.Join(fmt.Errorf("hold temporary folder: %w", err), f.Remove())
	}
	return f, nil
}

// hold locks the owner's file. The kernel gives the lock back when the process
// ends, however it does; no child inherits it.
func (f *Folder) hold() (err error) {
	name := filepath.Join(f.Path, ownerName)
	if f.owner, err = os.OpenFile(name+"-new", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := unix.Flock(int(f.owner.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	return os.Rename(name+"-new", name)
}

// Remove removes the folder and all that is in it.
func (f *Folder) Remove() error {
	err := removeFolder(f.Path)
	if f.owner != nil {
		err = errors.Join(err, f.owner.Close())
	}
	return err
}

// removeFolder removes a folder, its owner's file last.
func removeFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var faults []error
	for _, e := range entries {
		if e.Name() != ownerName {
			faults = append(faults, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// Sweep removes the folders of this user whose owners died without doing so. It
// leaves alone what is held, what is not of this user, what is no folder itself,
// such as a symbolic link to one, and what has no owner's file. What cannot be
// removed stays for the next sweep. Several may sweep at a time.
func Sweep() {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), folderPrefix) && e.IsDir() {
			sweep(filepath.Join(os.TempDir(), e.Name()))
		}
	}
}

// sweep removes a folder if nobody holds it.
func sweep(dir string) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !own(info) {
		return
	}
	name := filepath.Join(dir, ownerName)
	file, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return // in use, or being swept
	}
	held, err := file.Stat()
	if err != nil {
		return
	}
	if now, err := os.Lstat(name); err != nil || !os.SameFile(held, now) {
		return // swept meanwhile
	}
	_ = removeFolder(dir) // else the next sweep does
}

// own says whether a file is of this process's user.
func own(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
