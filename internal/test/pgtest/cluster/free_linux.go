package cluster

import "golang.org/x/sys/unix"

// free returns how many bytes are free in the file system of a folder, 0 if there is none.
func free(dir string) uint64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0
	}
	return s.Bavail * uint64(s.Bsize)
}
