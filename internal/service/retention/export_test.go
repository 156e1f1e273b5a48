package retention

import "os"

// SyncWith puts what an archive writes on the disk by a function.
func (a *Archive) SyncWith(sync func(*os.File) error) { a.sync = sync }
