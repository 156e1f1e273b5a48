package store

import "io/fs"

// MigrationFiles has a database migrated by other migrations than the program's: a folder for each dialect.
func MigrationFiles(files fs.FS) MigrateOption { return func(m *migrator) { m.files = files } }

// LockAttempts bounds how often a migration is tried that finds a table locked.
func LockAttempts(n int) MigrateOption { return func(m *migrator) { m.lockAttempts = n } }
