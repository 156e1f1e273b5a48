package rule

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/inputprop"
)

// warnings returns what the maker of a rule should see to: whether enough could approve.
func (s *Service) warnings(ctx context.Context, r *ent.Rule) ([]inputprop.Warning, error) {
	approvals, demandsApprovals := r.Demand.Kind.(*gate.Approvals)
	freeze, freezes := r.Demand.Kind.(*gate.Freeze)
	if !demandsApprovals && !freezes {
		return nil, nil
	}
	at, err := s.Journal.Clock(ctx)
	if err != nil {
		return nil, err
	}
	if freezes {
		return overWarning(freeze, at), nil
	}
	return s.unsatisfiable(ctx, r, approvals, at)
}

// unsatisfiable warns of a demand for more approvals than others could give: nobody at all, or only not for the
// deployments of some authors, because those who could approve are in one hand with them.
func (s *Service) unsatisfiable(
	ctx context.Context, r *ent.Rule, demand *gate.Approvals, at time.Time,
) ([]inputprop.Warning, error) {
	approvers, err := s.Store.PrincipalsWith(
		ctx, nil, store.PrincipalQuery{At: at, Roles: demand.Roles(), Place: PlaceOf(r), Holders: demand.Holders},
	)
	if err != nil {
		return nil, err
	}
	warning := inputprop.Warning{Pointer: "/demand/approvals", Rule: "unsatisfiable"}
	if len(approvers) < int(demand.Count) {
		warning.Message = fmt.Sprintf("demands %s, but the number of principals with a token by which they could approve "+
			"there is %d: "+
			"until there are more, nobody can", approvals(demand.Count), len(approvers))
		return []inputprop.Warning{warning}, nil
	}

	anybody := gate.Approvals{Role: actor.Developer}
	authors, err := s.Store.PrincipalsWith(
		ctx, nil, store.PrincipalQuery{At: at, Roles: anybody.Roles(), Place: PlaceOf(r)},
	)
	if err != nil {
		return nil, err
	}
	stuck, err := s.stuck(ctx, authors, approvers, int(demand.Count))
	if err != nil || len(stuck) == 0 {
		return nil, err
	}
	warning.Message = fmt.Sprintf(
		"demands %s, and too few others could approve what these make: %s", approvals(demand.Count), named(stuck),
	)
	return []inputprop.Warning{warning}, nil
}

func approvals(count int32) string {
	if count == 1 {
		return "1 approval"
	}
	return fmt.Sprintf("%d approvals", count)
}

// stuck returns the names of the authors whose deployments fewer than some others could approve, in order.
func (s *Service) stuck(ctx context.Context, authors, approvers map[string]string, count int) ([]string, error) {
	if err := meter.Spend(ctx, meter.Searched, len(authors)+len(approvers)); err != nil {
		return nil, err
	}
	makers, err := s.Store.MakersOf(ctx, nil, slices.Sorted(maps.Keys(authors)))
	if err != nil {
		return nil, err
	}

	inHand := map[string]map[string]bool{} // those of the approvers who are in one hand with an author, besides itself
	note := func(author, other string) {
		if _, approves := approvers[other]; approves && other != author {
			if inHand[author] == nil {
				inHand[author] = map[string]bool{}
			}
			inHand[author][other] = true
		}
	}
	for principal, list := range makers {
		for _, maker := range list {
			note(principal, maker)
			note(maker, principal)
		}
	}

	var names []string
	for author, name := range authors {
		others := len(approvers) - len(inHand[author])
		if _, approves := approvers[author]; approves {
			others--
		}
		if others < count {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// maxNamedAuthors is how many authors a warning names.
const maxNamedAuthors = 20

// named returns names as a part of a sentence, of many the first.
func named(names []string) string {
	if more := len(names) - maxNamedAuthors; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamedAuthors], ", "), more)
	}
	return strings.Join(names, ", ")
}

// overWarning warns of a freeze that binds nobody, because it has ended already.
func overWarning(f *gate.Freeze, at time.Time) []inputprop.Warning {
	if f.Until == nil || f.Until.After(at) {
		return nil
	}
	return []inputprop.Warning{{Pointer: "/demand/freeze/until", Rule: "over",
		Message: fmt.Sprintf("is %s, which is over: the rule freezes nothing", f.Until.UTC().Format(time.RFC3339))}}
}
