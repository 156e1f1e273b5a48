package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"slipway/ent/moduledefinition"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/pure/output"
	"slipway/internal/service/catalog"
)

// moduleFile is a module as a file has it; its versions go from old to new.
type moduleFile struct {
	Name, Type, Description, Kind string
	Status                        moduledefinition.Status
	Global                        bool
	// Outputs are those of each version.
	Outputs  []outputFile
	Versions []struct {
		Version string
		Inputs  json.RawMessage
		Source  struct{ URL, Ref string }
	}
}

// outputFile is an output of a module's versions, with what a deployment makes of it. In its texts {name} stands for
// the place of the instance and {hash} for what is drawn from that.
type outputFile struct {
	Name        string
	Description *string
	Value       json.RawMessage
}

// declared returns the outputs as versions declare them.
func (f moduleFile) declared() []output.Declared {
	var list []output.Declared
	for _, o := range f.Outputs {
		list = append(list, output.Declared{Name: o.Name, Description: o.Description})
	}
	return list
}

// made returns what a deployment of a module makes at a place, which is project-environment-name, nil for nothing.
func made(moduleType, place string) (*strictjson.Node, error) {
	all, err := moduleFiles()
	if err != nil {
		return nil, err
	}

	hash := sha256.Sum256([]byte(place))
	fill := strings.NewReplacer("{name}", place, "{hash}", hex.EncodeToString(hash[:8]))
	for _, f := range all {
		if f.Type != moduleType || len(f.Outputs) == 0 {
			continue
		}
		outputs := &strictjson.Node{Kind: strictjson.Object}
		for _, o := range f.Outputs {
			value, err := strictjson.Parse([]byte(fill.Replace(string(o.Value))))
			if err != nil {
				return nil, err
			}
			outputs.Append(o.Name, value)
		}
		return outputs, nil
	}

	return nil, nil
}

// published is a module of the catalogue.
type published struct {
	id       string
	kind     string
	versions map[string]version
}

// version is a published version of a module and the ids of its inputs.
type version struct {
	id     string
	inputs []string
}

// moduleFiles reads the files of all modules.
var moduleFiles = sync.OnceValues(func() (all []moduleFile, err error) {
	names, err := fs.Glob(files, "modules/*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		var f moduleFile
		if err := read(name, &f); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
})

// modules fills the catalogue: global modules by the superadmin, the organization's own by its admin.
func (d *demo) modules(ctx context.Context) error {
	all, err := moduleFiles()
	if err != nil {
		return err
	}
	d.published = map[string]*published{}
	for _, f := range all {
		if err := d.publish(ctx, f); err != nil {
			return fmt.Errorf("demo: %s: %w", f.Type, err)
		}
	}
	return nil
}

func (d *demo) publish(ctx context.Context, f moduleFile) error {
	if f.Global {
		ctx = d.as(ctx, root)
	} else {
		ctx = d.as(ctx, admin)
	}

	made, _, err := d.Catalog.CreateDefinition(ctx, catalog.NewDefinition{
		Name: f.Name, Type: f.Type, Description: &f.Description, Status: f.Status,
	})
	if err != nil {
		return err
	}

	m := &published{id: made.ID, kind: f.Kind, versions: map[string]version{}}
	d.published[f.Type] = m
	for _, v := range f.Versions {
		d.clock.pass(25 * time.Minute)
		inputs, err := strictjson.Parse(v.Inputs)
		if err != nil {
			return err
		}

		var ids []string
		for _, input := range inputs.Items {
			ids = append(ids, input.Get("id").Text)
		}

		published, _, err := d.Catalog.PublishVersion(ctx, module.NewVersion{
			DefinitionID: made.ID, Version: v.Version, Kind: f.Kind, Inputs: inputs,
			Outputs: f.declared(), SourceURL: &v.Source.URL, SourceRef: &v.Source.Ref,
		})
		if err != nil {
			return err
		}

		m.versions[v.Version] = version{published.ID, ids}
	}

	return nil
}
