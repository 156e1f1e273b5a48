package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/lib/pq"

	"slipway/ent"
	"slipway/ent/project"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

// never is the probe of a transaction that was not committed.
func never(context.Context, *ent.Client) (bool, error) { return false, nil }

func TestTransactionIsTriedAgainWhereThatMayHelp(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Admin)
		for name, passing := range map[string]error{
			"serialization":         &pq.Error{Code: "40001"},
			"deadlock":              &pq.Error{Code: "40P01"},
			"connection failure":    &pq.Error{Code: "08006"},
			"too many connections":  &pq.Error{Code: "53300"},
			"admin shutdown":        &pq.Error{Code: "57P01"},
			"a standby":             &pq.Error{Code: "25006"},
			"end of the connection": fmt.Errorf("read: %w", io.EOF),
			"bad connection":        driver.ErrBadConn,
			"reset":                 &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
		} {
			runs := 0
			err := w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
				if runs++; runs < 3 {
					return fmt.Errorf("run %d: %w", runs, passing)
				}
				return newProject(ctx, tx, w.Acme.ID, name)
			})
			if err != nil || runs != 3 {
				t.Errorf("%s: %d runs and %v, want success in the third", name, runs, err)
			}
		}
		// What the runs that failed had written is gone with them.
		if n := w.Store.Client.Project.Query().CountX(ctx); n != 9 {
			t.Errorf("%d projects, want 9", n)
		}
	})
}

func TestTransactionIsNotTriedAgainInVain(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for name, c := range map[string]struct {
			fails error
			code  fault.Code
		}{
			"own refusal":          {fault.New(fault.DeploymentInProgress, "busy"), fault.DeploymentInProgress},
			"unique violation":     {&pq.Error{Code: "23505"}, ""},
			"syntax":               {&pq.Error{Code: "42601"}, ""},
			"statement timeout":    {&pq.Error{Code: "57014"}, fault.ServerUnavailable},
			"silent server":        {&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, fault.ServerUnavailable},
			"full disk":            {&pq.Error{Code: "53100"}, fault.ServerUnavailable},
			"broken disk":          {&pq.Error{Code: "58030"}, fault.ServerUnavailable},
			"damaged table":        {&pq.Error{Code: "XX001"}, fault.ServerUnavailable},
			"damaged index":        {&pq.Error{Code: "XX002"}, fault.ServerUnavailable},
			"something unexpected": {errors.New("boom"), ""},
		} {
			runs := 0
			err := w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
				runs++
				if err := newProject(ctx, tx, w.Acme.ID, name); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				return c.fails
			})
			if runs != 1 || !errors.Is(err, c.fails) || c.code != "" && !fault.Is(err, c.code) {
				t.Errorf("%s: %d runs, %v", name, runs, err)
			}
		}
		if n := w.Store.Client.Project.Query().CountX(w.Acme.As(actor.Admin)); n != 0 {
			t.Errorf("%d projects were written by transactions that failed", n)
		}
	})
}

func TestCallerWhoHasGoneGetsTheEndOfTheirContext(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx, cancel := context.WithCancel(w.Acme.As(actor.Admin))
		runs := 0
		err := w.Store.Tx(ctx, never, func(context.Context, *ent.Tx) error {
			runs++
			cancel()
			return &pq.Error{Code: "40001"}
		})
		if err != context.Canceled || runs != 1 { //nolint:errorlint // as it is, not wrapped
			t.Errorf("transaction: %d runs, %v, want context.Canceled", runs, err)
		}
		if _, err := w.Store.Client.Project.Query().All(ctx); !errors.Is(err, context.Canceled) || fault.Is(err, fault.ServerUnavailable) {
			t.Errorf("read: %v, want context.Canceled", err)
		}
	})
}

func TestWritesOutsideATransactionAreRefused(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx, c := w.Acme.As(actor.Admin), w.Store.Client
		before := w.Rows(t)
		for name, err := range map[string]error{
			"create": c.Project.Create().SetID(id.New(id.Project)).SetOrganizationID(w.Acme.ID).
				SetCreatedAt(store.Now()).SetUpdatedAt(store.Now()).SetName("x").SetSlug("x").Exec(ctx),
			"update":   c.Token.Update().SetLastUsedAt(store.Now()).Exec(ctx),
			"delete":   second(c.Token.Delete().Exec(ctx)),
			"one":      c.Organization.UpdateOneID(w.Acme.ID).SetName("x").Exec(ctx),
			"bulk":     c.Project.CreateBulk(c.Project.Create().SetID("prj_1").SetOrganizationID(w.Acme.ID)).Exec(ctx),
			"deletion": c.Organization.DeleteOneID(w.Globex.ID).Exec(ctx),
		} {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if n := c.Token.Query().CountX(ctx); n != before["tokens"] {
			t.Errorf("%d tokens, had %d", n, before["tokens"])
		}
		if o := c.Organization.GetX(ctx, w.Acme.ID); o.Name != "acme" {
			t.Errorf("the organization is called %q now", o.Name)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// look is a transaction that reads.
func look(ctx context.Context, tx *ent.Tx) error { return second(tx.Project.Query().Exist(ctx)) }

func newProject(ctx context.Context, tx *ent.Tx, organizationID, slug string) error {
	return tx.Project.Create().SetID(id.New(id.Project)).SetOrganizationID(organizationID).
		SetCreatedAt(store.Now()).SetUpdatedAt(store.Now()).SetName(slug).SetSlug(slug).Exec(ctx)
}

func slugs(ctx context.Context, c *ent.Client) []string {
	return c.Project.Query().Order(ent.Asc(project.FieldSlug)).Select(project.FieldSlug).StringsX(ctx)
}
