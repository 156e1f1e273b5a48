package graph

import (
	"context"
	"time"

	"slipway/internal/service/deployment/figures"
)

// statisticsOf returns the statistics of a place, which is one of a batch. Column is that of deployments which has the
// ids of the places.
func statisticsOf[P any](
	ctx context.Context, r *Resolver, place *P, column string, idOf func(*P) string,
	from time.Time, before *time.Time, by figures.Unit,
) (*figures.Statistics, error) {
	period, err := figures.NewPeriod(from, before, by, r.Deploy.Figures.Journal.Now())
	if err != nil {
		return nil, err
	}
	// The times as they were given: one that is left out is a later one for each place that is asked.
	given := from.Format(time.RFC3339Nano) + " " + string(by)
	if before != nil {
		given += " " + before.Format(time.RFC3339Nano)
	}
	return loadEach(ctx, place, "deploymentStatistics "+given, idOf,
		func(ctx context.Context, ids []string) (map[string]*figures.Statistics, error) {
			return r.Deploy.Figures.StatisticsOf(ctx, column, ids, period)
		})
}

// statistics returns those of the organization.
func statistics(
	ctx context.Context, r *Resolver, from time.Time, before *time.Time, by figures.Unit,
) (*figures.Statistics, error) {
	period, err := figures.NewPeriod(from, before, by, r.Deploy.Figures.Journal.Now())
	if err != nil {
		return nil, err
	}
	return r.Deploy.Figures.OfOrganization(ctx, period)
}

// instancesOf returns how many instances of a place, which is one of a batch, are in which state. Column is that of
// instances which has the ids of the places.
func instancesOf[P any](
	ctx context.Context, r *Resolver, place *P, column string, idOf func(*P) string,
) (*figures.Instances, error) {
	return loadEach(ctx, place, "instanceCounts", idOf,
		func(ctx context.Context, ids []string) (map[string]*figures.Instances, error) {
			return r.Deploy.Figures.InstancesOf(ctx, column, ids)
		})
}
