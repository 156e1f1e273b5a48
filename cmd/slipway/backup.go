package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/data/store/backup"
)

func backupCommand() *cobra.Command {
	var s source
	var to string
	c := &cobra.Command{
		Use:   "backup --to FILE",
		Short: "Back up a SQLite database while the server runs",
		Long: `Copy a SQLite database, as of one moment, into one new file. The server can run meanwhile and is not
slowed down. The copy is checked before it gets its name, and only its owner can read it.

PostgreSQL has its own tools for backups: see docs/backup.md.`,
		Example: `  slipway backup --to /var/backups/slipway-$(date -u +%Y%m%dT%H%M%SZ).db
  slipway backup --database sqlite:/var/lib/slipway/slipway.db --to slipway-before-the-upgrade.db`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := errors.Join(setting.Needed(c.Flags(), "to"), s.onSQLite("pg_dump or pg_basebackup")); err != nil {
				return err
			}
			return s.backup(c.Context(), to, c.OutOrStdout())
		},
	}
	s.flags(c.Flags(), defaultDatabase, databaseUsage)
	setting.Add(c.Flags(), &to, "to", "", setting.Text, "new file to write")
	return c
}

func (s *source) backup(ctx context.Context, file string, out io.Writer) error {
	if err := s.existing(); err != nil {
		return err
	}
	begun := time.Now()
	made, err := backup.Write(ctx, s.url, file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "wrote %s: %d bytes in %s, migration %d\n",
		file, made.Bytes, time.Since(begun).Round(time.Millisecond), made.Migration)
	return err
}

// onSQLite refuses a database of PostgreSQL, which has tools of its own.
func (s *source) onSQLite(tools string) error {
	if !isSQLite(s.url) {
		return setting.Usagef("--database: want sqlite:PATH, found PostgreSQL, for which there is %s: see docs/backup.md",
			tools)
	}
	return s.check()
}

func restoreCommand() *cobra.Command {
	var s source
	var from string
	c := &cobra.Command{
		Use:   "restore --from FILE",
		Short: "Restore a SQLite backup",
		Long: `Replace a SQLite database with a copy of a backup. Stop the server first.

The backup is checked first. Nothing is deleted: the earlier files move into a folder next to the
database, and the command prints its path. If a restore is interrupted, run it again.`,
		Example: `  slipway restore --from /var/backups/slipway-20261122T020000Z.db
  slipway restore --database sqlite:/var/lib/slipway/slipway.db --from slipway-before-the-upgrade.db`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := errors.Join(setting.Needed(c.Flags(), "from"), s.onSQLite("pg_restore")); err != nil {
				return err
			}
			return s.restore(c.Context(), from, c.OutOrStdout())
		},
	}
	s.flags(c.Flags(), defaultDatabase, databaseUsage)
	setting.Add(c.Flags(), &from, "from", "", setting.Text, "backup to restore; it is not modified")
	return c
}

func (s *source) restore(ctx context.Context, file string, out io.Writer) error {
	begun := time.Now()
	done, err := backup.Restore(ctx, s.url, file)
	if err != nil {
		return err
	}
	lines := fmt.Sprintf("restored %s from %s: %d bytes in %s, migration %d\n",
		s.url, file, done.Bytes, time.Since(begun).Round(time.Millisecond), done.Migration)
	for _, folder := range done.Replaced {
		lines += "the earlier files are in " + folder + "\n"
	}
	_, err = io.WriteString(out, lines)
	return err
}
