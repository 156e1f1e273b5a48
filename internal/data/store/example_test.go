package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"slipway/ent"
	"slipway/ent/project"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
)

// A program migrates a database, opens it, writes in a transaction and reads, for the organization of the
// actor in the context.
func Example() {
	folder, err := os.MkdirTemp("", "slipway-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	url := "sqlite:" + filepath.Join(folder, "slipway.db")

	ctx := context.Background()
	if _, err := migrate.Up(ctx, url); err != nil {
		log.Fatal(err)
	}
	s, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = s.Close() }()

	acme, globex := id.New(id.Organization), id.New(id.Organization)
	inAcme := actor.With(ctx, &actor.Actor{Role: actor.Admin, OrganizationID: acme})
	inGlobex := actor.With(ctx, &actor.Actor{Role: actor.Admin, OrganizationID: globex})

	// Ids and times are drawn outside the function, which may run more than once.
	projectID, now := id.New(id.Project), store.Now()
	committed := func(ctx context.Context, c *ent.Client) (bool, error) {
		return c.Project.Query().Where(project.ID(projectID)).Exist(ctx)
	}
	err = s.Tx(inAcme, committed, func(ctx context.Context, tx *ent.Tx) error {
		if err := tx.Organization.Create().SetID(acme).SetName("Acme").SetSlug("acme").SetCreatedAt(now).SetUpdatedAt(now).Exec(ctx); err != nil {
			return err
		}
		return tx.Project.Create().SetID(projectID).SetOrganizationID(acme).SetName("Shop").SetSlug("shop").SetCreatedAt(now).SetUpdatedAt(now).Exec(ctx)
	})
	if err != nil {
		log.Fatal(err)
	}

	for _, ctx := range []context.Context{inAcme, inGlobex} {
		n, err := s.Client.Project.Query().Count(ctx)
		fmt.Println(n, err)
	}
	err = s.Client.Project.DeleteOneID(projectID).Exec(inAcme)
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// 0 <nil>
	// store: write outside a transaction: ent: mutation is not running in a transaction
}
