package page_test

import (
	"encoding/json"
	"testing"

	"slipway/internal/service/account"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/view"
	"slipway/internal/service/rule"
	"slipway/internal/service/workspace"
)

// A cursor is bound to the JSON of its filter. A member that is new is left out of that unless it is given, so that cursors of
// before stay good: it has `json:",omitempty"`.
func TestFiltersOfBeforeAreWrittenAsEver(t *testing.T) {
	t.Parallel()
	for want, filter := range map[string]any{
		`{"ModuleInstanceID":null,"EnvironmentID":null,"ProjectID":null,"Status":null,"Kind":null,"CreatedFrom":null,"CreatedBefore":null}`: view.Filter{},
		`{"ProjectID":null,"EnvironmentID":null,"ModuleDefinitionID":null,"Type":null}`:                                                     catalog.InstanceFilter{},
		`{"Status":null,"Type":null,"Search":null}`:                                                                                         catalog.DefinitionFilter{},
		`{"Archived":false,"Search":null}`:                                                                                                  workspace.ProjectFilter{},
		`{"ProjectID":null,"Archived":false,"Search":null}`:                                                                                 workspace.EnvironmentFilter{},
		`{"ActorID":null,"Action":null,"ObjectID":null,"CreatedFrom":null,"CreatedBefore":null}`:                                            account.AuditFilter{},
		`{"Ended":false}`: rule.Filter{},
	} {
		if text, err := json.Marshal(filter); err != nil || string(text) != want {
			t.Errorf("%T is written as %s, %v, want %s", filter, text, err, want)
		}
	}
}
