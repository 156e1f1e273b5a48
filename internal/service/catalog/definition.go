package catalog

import (
	"cmp"
	"context"

	"slipway/ent"
	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/service/access"
)

// Definition returns one module definition, or ModuleDefinitionNotFound; to anonymous callers the global ACTIVE ones.
func (s *Service) Definition(ctx context.Context, definitionID string) (*record.ModuleDefinition, error) {
	if err := access.Check(actor.From(ctx), access.ReadCatalog, fault.ModuleDefinitionForbidden); err != nil {
		return nil, err
	}
	return s.definitions(ctx).ByID(ctx, definitionID, fault.ModuleDefinitionNotFound)
}

// DefinitionByType returns the definition that a module type stands for, or ModuleDefinitionNotFound: an organization's
// own goes before a global one; to anonymous callers the global ACTIVE ones. It fails with RequestInvalid for what can
// be no type.
func (s *Service) DefinitionByType(ctx context.Context, moduleType string) (*record.ModuleDefinition, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ReadCatalog, fault.ModuleDefinitionForbidden); err != nil {
		return nil, err
	}
	if violations := module.CheckType(moduleType); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	return s.definitions(ctx).Where(record.Equal(moduledefinition.FieldType, moduleType), notShadowed(a.OrganizationID)).
		Only(ctx, "type", moduleType, fault.ModuleDefinitionNotFound)
}

// notShadowed leaves out the global definitions of whose type the organization has one.
func notShadowed(organizationID string) record.Condition {
	return record.Where(`("organization_id" IS NOT NULL OR "type" NOT IN (
		SELECT "own"."type" FROM "module_definitions" AS "own" WHERE "own"."organization_id" = ?))`, organizationID)
}

// DefinitionsByID returns the definitions of the ids that there are and that the actor may see, in no order.
func (s *Service) DefinitionsByID(ctx context.Context, ids []string) ([]*record.ModuleDefinition, error) {
	return s.definitions(ctx).ByIDs(ctx, ids)
}

// definitions returns the definitions that the actor may see: anonymous callers the global ACTIVE ones.
func (s *Service) definitions(ctx context.Context) record.Query[record.ModuleDefinition] {
	all := record.ModuleDefinitions.In(s.Store)
	if actor.From(ctx).IsAnonymous() {
		return all.Where(record.IsNull(moduledefinition.FieldOrganizationID), hasStatus(moduledefinition.StatusACTIVE))
	}
	return all
}

func hasStatus(s moduledefinition.Status) record.Condition {
	return record.Equal(moduledefinition.FieldStatus, string(s))
}

// DefinitionFilter has conditions on module definitions; nil ones do not count.
type DefinitionFilter struct {
	Status *moduledefinition.Status
	Type   *string
	// Search is a text that the name or the type contains, in any case.
	Search *string
	// ByName has the list in the order of names, and not the newest first.
	ByName bool `json:",omitempty"`
}

// Definitions returns a page of the catalogue: the organization's definitions and the global ones, and to
// anonymous callers the global ACTIVE ones only.
func (s *Service) Definitions(
	ctx context.Context, f DefinitionFilter, args page.Args,
) (*page.ModuleDefinitionConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ReadCatalog, fault.ModuleDefinitionForbidden); err != nil {
		return nil, err
	}

	list := s.definitions(ctx)
	if f.Status != nil {
		list = list.Where(hasStatus(*f.Status))
	}
	if f.Type != nil {
		list = list.Where(record.Equal(moduledefinition.FieldType, *f.Type))
	}

	list, err := list.Search(ctx, f.Search)
	if err != nil {
		return nil, err
	}
	if f.ByName {
		list = list.ByName()
	}

	scope := page.Scope{List: "moduleDefinitions", Viewer: store.Scope(a), Filter: f}
	return page.Read(ctx, list, args, scope)
}

// Types returns a page of the definitions that module types stand for: an organization's own goes before a
// global one of the same type.
func (s *Service) Types(ctx context.Context, args page.Args) (*page.ModuleDefinitionConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.ModuleDefinitionForbidden); err != nil {
		return nil, err
	}
	list := record.ModuleDefinitions.In(s.Store).Where(notShadowed(a.OrganizationID))
	return page.Read(ctx, list, args, page.Scope{List: "moduleTypes", Viewer: store.Scope(a)})
}

// NewDefinition is a module definition to be created.
type NewDefinition struct {
	Name        string                  `json:"name"`
	Type        string                  `json:"type"`
	Description *string                 `json:"description,omitempty"`
	Status      moduledefinition.Status `json:"status"`
}

// CreateDefinition creates a definition of the actor's organization, or a global one for a superadmin
// who has named what is global, and warns of what may not be meant. It fails with ModuleDefinitionTypeTaken if the
// owner has one of the type.
func (s *Service) CreateDefinition(
	ctx context.Context, in NewDefinition,
) (*ent.ModuleDefinition, []inputprop.Warning, error) {
	a := actor.From(ctx)
	if err := access.Check(a, editing(a), fault.ModuleDefinitionForbidden); err != nil {
		return nil, nil, err
	}
	if violations := module.CheckDefinition(in.Name, in.Type, in.Description); len(violations) > 0 {
		return nil, nil, fault.Invalid(fault.RequestInvalid, violations...)
	}

	warnings, err := s.Schemas.CheckShadowed(ctx, in.Type, "/type")
	if err != nil {
		return nil, nil, err
	}

	var created *ent.ModuleDefinition
	definitionID := s.Journal.NewID(id.ModuleDefinition)
	err = s.Journal.Write(ctx, "createModuleDefinition",
		func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (err error) {
			e.ObjectID, e.Changes = definitionID, in
			create := tx.ModuleDefinition.Create().
				SetID(definitionID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
				SetName(in.Name).SetType(in.Type).SetNillableDescription(in.Description).SetStatus(in.Status).
				SetNameKey(textrules.NameKey(in.Name)).SetSearchText(textrules.SearchText(in.Name, in.Type))
			if a.OrganizationID != "" {
				create.SetOrganizationID(a.OrganizationID)
			}
			created, err = create.Save(ctx)
			return err
		})
	if store.IsUniqueViolation(err) {
		return nil, nil, typeTaken(in.Type, err)
	}
	return created, warnings, err
}

// DefinitionPatch has the fields to change; nil ones stay. An empty description clears it.
type DefinitionPatch struct {
	Name        *string                  `json:"name,omitempty"`
	Type        *string                  `json:"type,omitempty"`
	Description *string                  `json:"description,omitempty"`
	Status      *moduledefinition.Status `json:"status,omitempty"`
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation `json:"-"`
}

// UpdateDefinition changes a definition, and warns of what may not be meant. It fails with ModuleDefinitionNotFound,
// ModuleDefinitionForbidden for one that the actor sees but does not own, and where the type changes with
// ModuleDefinitionTypeTaken and ModuleDefinitionInUse.
func (s *Service) UpdateDefinition(
	ctx context.Context, definitionID string, p DefinitionPatch,
) (*ent.ModuleDefinition, []inputprop.Warning, error) {
	if violations := p.check(); len(violations) > 0 {
		return nil, nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	before, err := s.ownDefinition(ctx, definitionID, editing)
	if err != nil {
		return nil, nil, err
	}

	var warnings []inputprop.Warning
	if p.Type != nil && *p.Type != before.Type {
		if warnings, err = s.Schemas.CheckShadowed(ctx, *p.Type, "/type"); err != nil {
			return nil, nil, err
		}
	}

	var updated *ent.ModuleDefinition
	err = s.Journal.Write(ctx, "updateModuleDefinition", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
		d, err := tx.ModuleDefinition.Get(ctx, definitionID)
		if updated, err = store.NotFoundAs(d, err, definitionID, fault.ModuleDefinitionNotFound); err != nil {
			return err
		}
		if p.changesNothing() {
			e.SkipAudit = true
			return nil
		}

		e.ObjectID, e.Changes = definitionID, p
		if updated, err = patched(d, p).SetUpdatedAt(e.At).Save(ctx); err != nil || updated.Type == d.Type {
			return err
		}
		return s.checkUnused(ctx, tx, d)
	})

	if store.IsUniqueViolation(err) {
		err = typeTaken(*p.Type, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return updated, warnings, nil
}

func (p DefinitionPatch) check() []fault.Violation {
	violations := p.Violations
	if p.Name != nil {
		violations = append(violations, textrules.Name("/name", *p.Name)...)
	}
	if p.Type != nil {
		violations = append(violations, module.CheckType(*p.Type)...)
	}
	return append(violations, textrules.Description("/description", p.Description)...)
}

// checkNamed refuses those who see what is global, and lack a token or have forgotten to say what they mean.
func checkNamed(ctx context.Context) error {
	a := actor.From(ctx)
	if !a.IsAnonymous() && !a.IsSuperadmin() {
		return nil
	}
	return access.Check(a, editing(a), fault.ModuleDefinitionForbidden)
}

// ownDefinition returns a definition on which the actor may take an action, which depends on where it acts.
func (s *Service) ownDefinition(
	ctx context.Context, definitionID string, action func(*actor.Actor) access.Action,
) (*ent.ModuleDefinition, error) {
	a := actor.From(ctx)
	if err := checkNamed(ctx); err != nil {
		return nil, err
	}
	get := s.Store.Client.ModuleDefinition.Get
	d, err := store.Find(ctx, get, id.ModuleDefinition, definitionID, fault.ModuleDefinitionNotFound)
	if err != nil {
		return nil, err
	}
	in := actor.Place{ModuleDefinitionID: d.ID}
	if err := access.CheckIn(a, action(a), in, fault.ModuleDefinitionForbidden); err != nil {
		return nil, err
	}
	if d.OrganizationID == nil && a.OrganizationID != "" {
		return nil, fault.New(fault.ModuleDefinitionForbidden, "The module definition %s is global: only superadmins change "+
			"it, who name %s.", d.ID, actor.Global)
	}
	return d, nil
}

func (p DefinitionPatch) changesNothing() bool {
	return p.Name == nil && p.Type == nil && p.Description == nil && p.Status == nil
}

func patched(d *ent.ModuleDefinition, p DefinitionPatch) *ent.ModuleDefinitionUpdateOne {
	u := d.Update().SetNillableName(p.Name).SetNillableType(p.Type).SetNillableStatus(p.Status)
	if p.Description != nil {
		u.SetDescription(*p.Description)
		if *p.Description == "" {
			u.ClearDescription()
		}
	}
	name := *cmp.Or(p.Name, &d.Name)
	return u.SetNameKey(textrules.NameKey(name)).SetSearchText(textrules.SearchText(name, *cmp.Or(p.Type, &d.Type)))
}
