package graph

import (
	"context"
	"fmt"
	"time"

	"github.com/vikstrous/dataloadgen"

	"slipway/ent"
	"slipway/internal/page"
)

// loading has the batches of one operation: what the records of a list refer to is read in one
// statement an edge, however many records there are.
type loading struct {
	project     *dataloadgen.Loader[string, *ent.Project]
	environment *dataloadgen.Loader[string, *ent.Environment]
	definition  *dataloadgen.Loader[string, *ent.ModuleDefinition]
	version     *dataloadgen.Loader[string, *ent.ModuleVersion]
	instance    *dataloadgen.Loader[string, *ent.ModuleInstance]
	release     *dataloadgen.Loader[string, *ent.Release]
	deployment  *dataloadgen.Loader[string, *ent.Deployment]

	environments       lists[ent.Environment]
	versions           lists[ent.ModuleVersion]
	instances          lists[ent.ModuleInstance]
	deployments        lists[ent.Deployment]
	releaseDeployments lists[ent.Deployment]
}

// window is how long a batch waits for more.
const window = 500 * time.Microsecond

// maxBatch is how many ids one statement asks for.
const maxBatch = 500

func (r *Resolver) loading() *loading {
	return &loading{
		project:     byID(r.Workspace.ProjectsByID, func(p *ent.Project) string { return p.ID }),
		environment: byID(r.Workspace.EnvironmentsByID, func(e *ent.Environment) string { return e.ID }),
		definition:  byID(r.Catalog.DefinitionsByID, func(d *ent.ModuleDefinition) string { return d.ID }),
		version:     byID(r.Catalog.VersionsByID, func(v *ent.ModuleVersion) string { return v.ID }),
		instance:    byID(r.Catalog.InstancesByID, func(i *ent.ModuleInstance) string { return i.ID }),
		release:     byID(r.Deploy.ReleasesByID, func(r *ent.Release) string { return r.ID }),
		deployment:  byID(r.Deploy.DeploymentsByID, func(d *ent.Deployment) string { return d.ID }),

		environments:       listsOf(r.Workspace.EnvironmentsOf),
		versions:           listsOf(r.Catalog.VersionsOf),
		instances:          listsOf(r.Catalog.InstancesOf),
		deployments:        listsOf(r.Deploy.DeploymentsOf),
		releaseDeployments: listsOf(r.Deploy.DeploymentsOfReleases),
	}
}

// byID makes a loader of single records.
func byID[T any](read func(context.Context, []string) ([]*T, error), id func(*T) string) *dataloadgen.Loader[string, *T] {
	return dataloadgen.NewMappedLoader(func(ctx context.Context, ids []string) (map[string]*T, error) {
		records, err := read(ctx, ids)
		if err != nil {
			return nil, err
		}
		byID := make(map[string]*T, len(records))
		for _, record := range records {
			byID[id(record)] = record
		}
		return byID, nil
	}, dataloadgen.WithWait(window), dataloadgen.WithBatchCapacity(maxBatch))
}

// optional loads the record of an id that may be absent.
func optional[T any](ctx context.Context, l *dataloadgen.Loader[string, *T], id *string) (*T, error) {
	if id == nil {
		return nil, nil
	}
	return l.Load(ctx, *id)
}

// lists loads the lists of records: those that are asked for with the same arguments together.
type lists[T any] struct {
	loader *dataloadgen.Loader[listKey, *page.Connection[*T]]
}

// listKey is the parent of a list and the arguments that it is asked for with.
type listKey struct {
	parent              string
	first, last         int32
	after, before       string
	hasFirst, hasLast   bool
	hasAfter, hasBefore bool
}

func keyOf(parent string, a page.Args) listKey {
	k := listKey{parent: parent}
	if a.First != nil {
		k.first, k.hasFirst = *a.First, true
	}
	if a.Last != nil {
		k.last, k.hasLast = *a.Last, true
	}
	if a.After != nil {
		k.after, k.hasAfter = *a.After, true
	}
	if a.Before != nil {
		k.before, k.hasBefore = *a.Before, true
	}
	return k
}

func (k listKey) args() page.Args {
	var a page.Args
	if k.hasFirst {
		a.First = &k.first
	}
	if k.hasLast {
		a.Last = &k.last
	}
	if k.hasAfter {
		a.After = &k.after
	}
	if k.hasBefore {
		a.Before = &k.before
	}
	return a
}

type readLists[T any] func(context.Context, []string, page.Args) (map[string]*page.Connection[*T], error)

func listsOf[T any](read readLists[T]) lists[T] {
	fetch := func(ctx context.Context, keys []listKey) (map[listKey]*page.Connection[*T], error) {
		parents := map[listKey][]string{}
		for _, k := range keys {
			group := k
			group.parent = ""
			parents[group] = append(parents[group], k.parent)
		}
		all := make(map[listKey]*page.Connection[*T], len(keys))
		for group, ids := range parents {
			pages, err := read(ctx, ids, group.args())
			if err != nil {
				return nil, err
			}
			for id, p := range pages {
				group.parent = id
				all[group] = p
			}
		}
		return all, nil
	}
	return lists[T]{dataloadgen.NewMappedLoader(fetch, dataloadgen.WithWait(window), dataloadgen.WithBatchCapacity(maxBatch))}
}

func (l lists[T]) load(ctx context.Context, parent string, args page.Args) (*page.Connection[*T], error) {
	return l.loader.Load(ctx, keyOf(parent, args))
}

type loadingKey struct{}

// loaders gives the batches of the context's operation.
func loaders(ctx context.Context) *loading {
	l, ok := ctx.Value(loadingKey{}).(*loading)
	if !ok {
		panic(fmt.Errorf("graph: no loaders in the context"))
	}
	return l
}
