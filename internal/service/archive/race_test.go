package archive_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/archive"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

const races = 200

// race runs two at once, in either order, and returns their errors.
func race(n int, one, other func() error) (first, second error) {
	var both sync.WaitGroup
	start := func(f func() error, err *error) { both.Go(func() { *err = f() }) }
	if n%2 == 0 {
		start(one, &first)
		start(other, &second)
	} else {
		start(other, &second)
		start(one, &first)
	}
	both.Wait()
	return first, second
}

// Of a deployment that is made and an instance that is archived at once one comes first, and the other is refused.
func TestNothingBecomesActiveInWhatIsArchivedMeanwhile(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		source := p.Succeeded(t)
		deploys := map[string]func(context.Context) error{
			"create": func(ctx context.Context) error { _, err := create(ctx, w, p); return err },
			"replay": func(ctx context.Context) error {
				_, _, err := w.Deploy.Propose.Redeploy(ctx, propose.Replay{SourceID: source.ID})
				return err
			},
		}
		all := places(w, p)
		for name, deploy := range deploys {
			var archived int
			for n := range races {
				of := all[[]string{"project", "environment", "instance"}[n%3]]
				refused, err := race(n, func() error { return deploy(w.Acme.As(actor.Developer)) }, func() error { return of.archive(true) })
				switch {
				case err == nil && fault.Is(refused, fault.ModuleInstanceArchived):
					archived++
					must(t, of.unarchive())
				case refused == nil && fault.Is(err, fault.DeploymentInProgress):
					for _, d := range w.Store.Client.Deployment.Query().AllX(w.Acme.As(actor.Viewer)) {
						if d.CompletedAt == nil {
							w.Cancel(t, w.Acme, d.ID)
						}
					}
				default:
					t.Fatalf("%s: %v, and to archive %v", name, refused, err)
				}
			}
			t.Logf("%s: archived first %d of %d", name, archived, races)
		}
	})
}

func TestNothingIsMadeInWhatIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		admin := w.Acme.As(actor.Admin)
		var deleted atomic.Int32
		for n := range races {
			i := p.NewInstance(t, "raced")
			own := *p
			own.Instance = i
			refused, err := race(n, func() error { _, err := create(w.Acme.As(actor.Developer), w, &own); return err },
				func() error { _, err := w.Catalog.DeleteInstance(admin, i.ID); return err })
			switch {
			case err == nil && fault.Is(refused, fault.ModuleInstanceNotFound):
				deleted.Add(1)
			case refused == nil && fault.Is(err, fault.ModuleInstanceHasDeployments):
				w.Cancel(t, w.Acme, w.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(i.ID)).OnlyX(admin).ID)
				_, err := w.Archive.ArchiveInstance(admin, archive.Request{ID: i.ID})
				must(t, err)
			default:
				t.Fatalf("create: %v, delete: %v", refused, err)
			}
		}
		t.Logf("deleted first %d of %d", deleted.Load(), races)
		_, err := w.Catalog.CreateInstance(admin, catalog.NewInstance{EnvironmentID: p.Environment.ID, DefinitionID: p.Definition.ID, Name: "raced"})
		must(t, err)
	})
}
