package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"slipway/ent/moduledefinition"
	"slipway/internal/catalog"
	"slipway/internal/strictjson"
)

// moduleFile is a module as a file has it; its versions go from old to new.
type moduleFile struct {
	Name, Type, Description, Kind string
	Status                        moduledefinition.Status
	Global                        bool
	Versions                      []struct {
		Version string
		Inputs  json.RawMessage
		Source  struct{ URL, Ref string }
	}
}

// module is a module of the catalogue.
type module struct {
	id       string
	kind     string
	versions map[string]version
}

// version is a published version of a module and the ids of its inputs.
type version struct {
	id     string
	inputs []string
}

// modules fills the catalogue: global modules by the superadmin, the organization's own by its admin.
func (d *demo) modules(ctx context.Context) error {
	names, err := fs.Glob(files, "modules/*.json")
	if err != nil {
		return err
	}
	d.published = map[string]*module{}
	for _, name := range names {
		var f moduleFile
		if err := read(name, &f); err != nil {
			return err
		}
		if err := d.publish(ctx, f); err != nil {
			return fmt.Errorf("demo: %s: %w", name, err)
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
	m := &module{id: made.ID, kind: f.Kind, versions: map[string]version{}}
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
		published, _, err := d.Catalog.PublishVersion(ctx, catalog.NewVersion{
			DefinitionID: made.ID, Version: v.Version, Kind: f.Kind, Inputs: inputs,
			SourceURL: &v.Source.URL, SourceRef: &v.Source.Ref,
		})
		if err != nil {
			return err
		}
		m.versions[v.Version] = version{published.ID, ids}
	}
	return nil
}
