package inputtest

import (
	"context"
	"errors"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
)

// Instance is an instance that can be chosen.
const Instance = "inst_01h455vb4pex5vsknk084sn02q"

// Env knows of every place, of one instance and of one list of dynamic values.
var Env = inputvalues.Env{
	Organization: inputvalues.Scope{ID: "org_1", Name: "Acme", Slug: "acme"},
	Project:      inputvalues.Scope{ID: "prj_1", Name: "Shop", Slug: "shop"},
	Environment:  inputvalues.Scope{ID: "env_1", Name: "Production", Slug: "prod"},
	Module:       inputvalues.ModuleScope{ID: "mod_1", Name: "Web", Type: "web", Version: "1.2.0"},
	Ref: func(_ context.Context, instanceID, path string) (*strictjson.Node, bool, error) {
		values := map[string]string{
			"input.cidr": `"10.0.0.0/16"`, "stack.output.port": `8080`,
			"stack.output.subnets": `["a","b"]`, "stack.output.none": `null`,
		}
		text, ok := values[path]
		if !ok || instanceID != Instance {
			return nil, false, nil
		}
		n, err := strictjson.Parse([]byte(text))
		return n, true, err
	},
	Options: func(_ context.Context, source string, params map[string]string) ([]inputprop.Option, error) {
		if source != "zones" {
			return nil, errors.New("no such source")
		}
		return []inputprop.Option{{Value: params["region"] + "-1"}, {Value: params["region"] + "-2"}}, nil
	},
}
