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
		Short: "Copy a SQLite database while it is served",
		Long: `Copy a SQLite database, as it is at one moment, into one file that is not there yet. The server may
run meanwhile; it is not held up. The copy is checked before it gets its name, and only its owner may read it.

PostgreSQL has tools of its own for this: docs/backup.md says how to use them.`,
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
	setting.Add(c.Flags(), &to, "to", "", setting.Text, "file to write, which is not there yet")
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
		Short: "Put a backup in the place of a SQLite database",
		Long: `Put a copy of a backup in the place of a SQLite database. Stop the server first.

Nothing is deleted: what was there is moved into a folder beside it, which is printed. The backup is checked
before anything is moved. Where a restore is killed, run it again.`,
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
	setting.Add(c.Flags(), &from, "from", "", setting.Text, "backup to restore, which stays as it is")
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
		lines += "what was there before is in " + folder + "\n"
	}
	_, err = io.WriteString(out, lines)
	return err
}
