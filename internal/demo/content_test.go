package demo_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"slipway/ent/deployment"
	"slipway/ent/moduledefinition"
	"slipway/ent/moduleversion"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/demo"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/inputprop"
	"slipway/internal/test/worldtest"
)

// variants are the discriminators of all 14 kinds of input; references have a module type behind theirs.
var variants = []string{
	"string", "text", "object", "object_map", "object_array", "array", "string_array", "number", "boolean",
	"section", "compound", "$ref", "gitrepo", "keyvalue",
}

func TestEveryNameOfTheContentStandsForSomething(t *testing.T) {
	t.Parallel()
	if names, err := demo.Unknown(); err != nil || len(names) > 0 {
		t.Errorf("nothing is called %q, error %v", names, err)
	}
}

func TestFilesAreStrictJSON(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(demo.Files, "modules/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, "demo.json") {
		text, err := demo.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := strictjson.Parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func areOfEverySort(t *testing.T, w *worldtest.World, r *demo.Result) {
	t.Helper()
	ctx, used := inside(t, r), map[string]bool{}
	type sort struct {
		global bool
		status moduledefinition.Status
	}
	sorts, several, modules := map[sort]int{}, 0, 0
	for _, m := range w.Store.Client.ModuleDefinition.Query().AllX(ctx) {
		modules++
		sorts[sort{m.OrganizationID == nil, m.Status}]++
		versions := w.Store.Client.ModuleVersion.Query().Where(moduleversion.ModuleDefinitionID(m.ID)).AllX(ctx)
		if len(versions) > 1 {
			several++
		}
		for _, v := range versions {
			inputs, err := v.Inputs.Properties(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			inputprop.Walk(inputs, "", func(p inputprop.Property, _ string) {
				variant, _, _ := strings.Cut(p.Head().Type, ":")
				used[variant] = true
			})
		}
	}
	if modules < 8 || len(sorts) != 4 || several < 3 {
		t.Errorf("%d modules, %d with several versions, by owner and status %v", modules, several, sorts)
	}
	for _, v := range variants {
		if !used[v] {
			t.Errorf("no module has an input of the type %s", v)
		}
	}
}

func haveTheShape(t *testing.T, w *worldtest.World, r *demo.Result) {
	t.Helper()
	seen, keys := map[string]bool{}, map[string]bool{}
	for _, d := range w.Store.Client.Deployment.Query().Where(deployment.DeploymentType(ecs.Type)).AllX(inside(t, r)) {
		data, violations := ecs.DecodePatch(strictjson.MustParse(string(d.Data.JSON())))
		if len(violations) > 0 {
			t.Fatalf("%s: %v", d.ID, violations)
		}
		if n := len(data.DeployedTaskDefinition.Definition); n < 2000 || n > 6000 {
			t.Errorf("%s: the task definition has %d bytes", d.ID, n)
		}
		var members map[string]any
		if err := json.Unmarshal(bytes.TrimSpace(d.Data.JSON()), &members); err != nil {
			t.Fatal(err)
		}
		for key := range members {
			keys[key] = true
		}
		for _, event := range data.Events {
			seen[*event.LifecycleStage] = true
			if *event.CurrentStep < 1 || *event.CurrentStep > *event.TotalSteps {
				t.Errorf("%s: step %d of %d", d.ID, *event.CurrentStep, *event.TotalSteps)
			}
		}
		if state := data.ServiceDeploymentState; state != nil {
			seen[*state.Status], seen[*state.Strategy] = true, true
			checkWeights(t, d.ID, state)
		} else if d.Status != deployment.StatusPENDING && d.Status != deployment.StatusAWAITING_APPROVAL {
			t.Errorf("%s is %s and has no state", d.ID, d.Status)
		}
	}
	for _, word := range []string{
		"RECONCILE_SERVICE", "PRE_SCALE_UP", "SCALE_UP", "POST_SCALE_UP", "TEST_TRAFFIC_SHIFT", "PRODUCTION_TRAFFIC_SHIFT",
		"BAKE_TIME", "CLEAN_UP", "SUCCESSFUL", "IN_PROGRESS", "ROLLBACK_SUCCESSFUL", "STOPPED", "BLUE_GREEN", "ROLLING",
	} {
		if !seen[word] {
			t.Errorf("no deployment has %s", word)
		}
	}
	const fields = 19
	if len(keys) != fields {
		t.Errorf("%d fields of the data are used, want all %d: %v", len(keys), fields, keys)
	}
}

// checkWeights holds that the production traffic goes to some revision, whole.
func checkWeights(t *testing.T, id string, state *ecs.ServiceDeploymentState) {
	t.Helper()
	if len(state.SourceServiceRevisions) == 0 {
		return
	}
	sum := *state.TargetServiceRevision.RequestedProductionTrafficWeight
	for _, source := range state.SourceServiceRevisions {
		sum += *source.RequestedProductionTrafficWeight
	}
	if sum != 100 {
		t.Errorf("%s: the revisions get %d %% of the traffic", id, sum)
	}
}

func TestTheDemoHasWhatIsArchivedAndWhatWasDestroyed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *worldtest.World, r *demo.Result) {
		var answer struct {
			Data struct {
				Archived, All struct {
					Nodes []struct {
						Name             string
						DestroyedAt      *string
						LiveDeploymentID *string
						LastDeployment   *struct{ Action, Status, Reason string }
					}
				}
			}
		}
		const instances = `nodes { name destroyedAt liveDeploymentId lastDeployment { action status reason } }`
		ask(t, w.URL, r.Tokens[actor.Viewer], `{ all: moduleInstances(first: 100) { `+instances+` }
			archived: moduleInstances(filter: {archived: true}) { `+instances+` } }`, "", &answer)
		if len(answer.Data.Archived.Nodes) == 0 {
			t.Error("nothing is archived")
		}
		destroyed := 0
		for _, i := range answer.Data.All.Nodes {
			if i.DestroyedAt == nil {
				continue
			}
			destroyed++
			if last := i.LastDeployment; i.LiveDeploymentID != nil || last == nil || last.Action != "DESTROY" || last.Status != "SUCCEEDED" || last.Reason == "" {
				t.Errorf("%s was destroyed: %+v", i.Name, i)
			}
		}
		if destroyed == 0 {
			t.Error("nothing was destroyed")
		}
	})
}
