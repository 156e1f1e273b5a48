package migrate

import "io/fs"

// Files has a database migrated by other migrations than the program's: a folder for each dialect.
func Files(files fs.FS) Option { return func(m *migrator) { m.files = files } }

// LockAttempts bounds how often a migration is tried that finds a table locked.
func LockAttempts(n int) Option { return func(m *migrator) { m.lockAttempts = n } }
