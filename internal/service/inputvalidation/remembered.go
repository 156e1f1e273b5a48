package inputvalidation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/inputbaseline"
	"slipway/ent/moduledefinition"
	"slipway/ent/moduleinstance"
	"slipway/ent/predicate"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
)

// What is read of what is remembered, to warn of what would bind nothing any more.
const (
	// maxRemembered bounds the instances, maxRememberedBytes what each may remember.
	maxRemembered      = 1000
	maxRememberedBytes = 8 << 10
	// rememberedAtOnce is how many are judged with one look-up of the instances that they choose.
	rememberedAtOnce = 50
	// instanceBytes is about what there is to do for one besides, as bytes of inputs.
	instanceBytes = 128
	// maxNamed is how many instances a warning names.
	maxNamed = 20
)

// ruleImmutableChanged is the rule of a warning that remembered values bind nothing any more.
const ruleImmutableChanged = "immutable_changed"

// remembered is an instance with what it remembers.
type remembered struct {
	ID   string `sql:"id"`
	Name string `sql:"name"`
	// Content is nil if there is nothing, or too much to be read for this.
	Content *string `sql:"content"`
}

// CheckRemembered warns of each input in another version of a module that refuses what instances of the organization
// remember of it. Pointers start with at. Of a global module nothing is said, because whoever publishes it sees no
// organization's instances.
func (c *SchemaChecker) CheckRemembered(
	ctx context.Context, definitionID string, list []inputprop.Property, at string,
) ([]inputprop.Warning, error) {
	if actor.From(ctx).OrganizationID == "" || !hasHeld(list) {
		return nil, nil
	}
	rows, err := c.remembered(ctx, moduleinstance.ModuleDefinitionID(definitionID))
	if err != nil {
		return nil, err
	}

	pointers := map[inputprop.Property]string{}
	inputprop.Walk(list, at, func(p inputprop.Property, pointer string) { pointers[p] = pointer })
	found := changed{at: at, by: map[string][]*remembered{}}
	err = found.eachPart(ctx, rows, func(part []*remembered, contents []*strictjson.Node) error {
		env, err := c.referring(ctx, list, contents)
		if err != nil {
			return err
		}
		return asUnavailable(c.Engine.Unbound(ctx, list, contents, env, func(i int, u inputvalues.Unbound) {
			found.add(pointers[u.Input], part[i])
		}))
	})

	return found.warnings("refuses what %s as its value, which binds nothing any more"), err
}

// CheckShadowed warns where instances of the organization remember that they choose instances of the global module of
// a type, if the organization makes a module of that type: those may not be chosen any more.
func (c *SchemaChecker) CheckShadowed(ctx context.Context, moduleType, at string) ([]inputprop.Warning, error) {
	if actor.From(ctx).OrganizationID == "" {
		return nil, nil
	}
	global, err := c.Store.Client.ModuleDefinition.Query().
		Where(moduledefinition.Type(moduleType), moduledefinition.OrganizationIDIsNil()).OnlyID(ctx)
	if err != nil {
		return nil, ent.MaskNotFound(err)
	}

	ofGlobal := moduleinstance.ModuleDefinitionID(global)
	if used, err := c.Store.Client.ModuleInstance.Query().Where(ofGlobal).Exist(ctx); err != nil || !used {
		return nil, err
	}
	rows, err := c.remembered(ctx, choosing)
	if err != nil {
		return nil, err
	}

	found := changed{at: at, by: map[string][]*remembered{}}
	err = found.eachPart(ctx, rows, func(part []*remembered, contents []*strictjson.Node) error {
		chosen := make([][]string, len(contents))
		for i, content := range contents {
			chosen[i] = inputvalues.InstanceIDs(content)
		}
		shadowed, err := c.Store.Client.ModuleInstance.Query().
			Where(ofGlobal, moduleinstance.IDIn(slices.Concat(chosen...)...)).IDs(ctx)
		for i, ids := range chosen {
			if slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(shadowed, id) }) {
				found.add(at, part[i])
			}
		}
		return err
	})

	return found.warnings(
		"goes before the global module of the type, so that what %s chosen of it binds nothing any more",
	), err
}

// hasHeld reports whether an input, at any depth, is held to what it was.
func hasHeld(list []inputprop.Property) bool {
	held := false
	inputprop.Walk(list, "", func(p inputprop.Property, _ string) { held = held || p.Traits().IsHeld() })
	return held
}

// baseline is the table of what instances remember, as remembered joins it.
func baseline() *sql.SelectTable { return sql.Table(inputbaseline.Table).As("b") }

// choosing keeps the instances that remember the id of an instance.
func choosing(s *sql.Selector) {
	s.Where(sql.Contains(baseline().C(inputbaseline.FieldContent), `"inst_`))
}

// remembered returns live instances with what they remember, the newest first, one more than are looked at.
func (c *SchemaChecker) remembered(ctx context.Context, which predicate.ModuleInstance) ([]*remembered, error) {
	var rows []*remembered
	err := c.Store.Client.ModuleInstance.Query().Where(which, moduleinstance.LiveDeploymentIDNotNil()).
		Order(ent.Desc(moduleinstance.FieldCreatedAt, moduleinstance.FieldID)).Limit(maxRemembered+1).
		Modify(func(s *sql.Selector) {
			b := baseline()
			s.LeftJoin(b).OnP(sql.And(sql.ColumnsEQ(b.C(inputbaseline.FieldModuleInstanceID), s.C(moduleinstance.FieldID)),
				sql.ColumnsEQ(b.C(inputbaseline.FieldOrganizationID), s.C(moduleinstance.FieldOrganizationID))))
			s.Select(s.C(moduleinstance.FieldID), s.C(moduleinstance.FieldName))
			content := b.C(inputbaseline.FieldContent)
			s.AppendSelectExprAs(sql.ExprFunc(func(e *sql.Builder) {
				e.WriteString("CASE WHEN octet_length(").Ident(content).
					WriteString(fmt.Sprintf(") <= %d THEN ", maxRememberedBytes)).
					Ident(content).WriteString(" END")
			}), "content")
		}).Scan(ctx, &rows)
	return rows, err
}

// referring returns what remembered values are judged in: as far as they choose instances, by those that there are.
func (c *SchemaChecker) referring(
	ctx context.Context, list []inputprop.Property, contents []*strictjson.Node,
) (inputvalues.Env, error) {
	found, err := c.lookUp(ctx, "", inputvalues.Choices(list, contents...))
	if err != nil {
		return inputvalues.Env{}, err
	}
	return inputvalues.Env{Reference: found.check}, nil
}

// changed are the inputs of which remembered values bind nothing any more, with the instances that have them.
type changed struct {
	at       string
	pointers []string
	by       map[string][]*remembered
	// judged is how many instances were looked at, partial whether there are others.
	judged  int
	partial bool
}

// eachPart calls judge with some of the instances after the other, and with what they remember, for as long as the
// request may work.
func (c *changed) eachPart(
	ctx context.Context, rows []*remembered, judge func([]*remembered, []*strictjson.Node) error,
) error {
	const readings = 2 // of what is remembered: it is parsed, and judged with what defaults add
	c.partial = len(rows) > maxRemembered
	for part := range slices.Chunk(rows[:min(len(rows), maxRemembered)], rememberedAtOnce) {
		part, bytes := c.dropUnread(part)
		if !meter.HasRoom(ctx, meter.Inputs, readings*bytes) {
			c.partial = true
			return nil
		}
		if err := meter.Spend(ctx, meter.Inputs, bytes); err != nil {
			return err
		}

		contents, err := parseAll(part)
		if err != nil {
			return err
		}
		if err := judge(part, contents); err != nil {
			return err
		}

		c.judged += len(part)
	}

	return nil
}

// dropUnread drops the instances of which what they remember was too long to be read. bytes is what the others count
// as.
func (c *changed) dropUnread(part []*remembered) (read []*remembered, bytes int) {
	read = slices.DeleteFunc(part, func(r *remembered) bool { return r.Content == nil })
	c.partial = c.partial || len(read) < len(part)
	for _, r := range read {
		bytes += instanceBytes + len(*r.Content)
	}
	return read, bytes
}

// parseAll returns what each of the instances remembers.
func parseAll(part []*remembered) ([]*strictjson.Node, error) {
	contents := make([]*strictjson.Node, len(part))
	for i, r := range part {
		n, err := strictjson.ParseStored([]byte(*r.Content))
		if err != nil {
			return nil, err
		}
		contents[i] = n
	}
	return contents, nil
}

func (c *changed) add(pointer string, r *remembered) {
	all, known := c.by[pointer]
	if !known {
		c.pointers = append(c.pointers, pointer)
	}
	if len(all) == 0 || all[len(all)-1] != r {
		c.by[pointer] = append(all, r)
	}
}

// warnings returns a warning for each input. The message has a place for whom it concerns.
func (c *changed) warnings(message string) []inputprop.Warning {
	slices.Sort(c.pointers)
	var list []inputprop.Warning
	for _, pointer := range c.pointers[:min(len(c.pointers), fault.MaxViolations)] {
		all := c.by[pointer]
		who := "1 instance has"
		if len(all) > 1 {
			who = fmt.Sprintf("%d instances have", len(all))
		}
		list = append(list, inputprop.Warning{
			Pointer: pointer, Rule: ruleImmutableChanged, Message: fmt.Sprintf(message, who) + ": " + nameList(all),
		})
	}
	if c.partial {
		list = append(list, inputprop.Warning{Pointer: c.at, Rule: "not_all_judged",
			Message: fmt.Sprintf("was judged for %d live instances by what they remember; there are more", c.judged)})
	}
	return list
}

// nameList names the first of the instances, and says how many more there are.
func nameList(all []*remembered) string {
	names := make([]string, 0, maxNamed+1)
	for _, r := range all[:min(len(all), maxNamed)] {
		names = append(names, fmt.Sprintf("%s (%s)", strictjson.Short(r.Name), r.ID))
	}
	if more := len(all) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
