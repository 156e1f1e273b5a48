package store

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect"
)

// BypassesRowSecurity says whether the database's role is one that row-level security does not hold: a
// superuser, or one with BYPASSRLS. On SQLite there is none to bypass.
func (s *Store) BypassesRowSecurity(ctx context.Context) (bool, error) {
	if s.dialect != dialect.Postgres {
		return false, nil
	}
	var bypasses bool
	err := s.db.QueryRowContext(ctx, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user").Scan(&bypasses)
	if err != nil {
		return false, fmt.Errorf("cannot read the database's role: %w", err)
	}
	return bypasses, nil
}
