package graph

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/service/deployment/execution"
)

// await waits as Resolver.Wait does, for the caller of the operation.
func (r *Resolver) await(ctx context.Context, atMost time.Duration, changed <-chan struct{}) (bool, error) {
	return r.Wait(ctx, graphql.GetOperationContext(ctx).Headers, atMost, changed)
}

// patience returns how long an operation may wait: claims may, for as long as each says, and together for as long as
// one may.
func patience(op *graphql.OperationContext) time.Duration {
	if op.Operation.Operation != ast.Mutation {
		return 0
	}
	var seconds int32
	for _, f := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Mutation"}) {
		if f.Name != "claimDeployment" {
			continue
		}
		input, _ := f.ArgumentMap(op.Variables)["input"].(map[string]any)
		if wait, err := graphql.UnmarshalInt32(input["wait"]); err == nil {
			seconds += min(max(wait, 0), execution.MaxClaimWait)
		}
	}
	return time.Duration(min(seconds, execution.MaxClaimWait)) * time.Second
}
