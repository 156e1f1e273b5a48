package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/remote/cli/document"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

// inputFlags are what the flags say of the values of inputs. Without files, what was given to the live deployment stays
// as far as they say nothing else.
type inputFlags struct {
	files, unset []string
	set, setJSON []setTo
}

// setTo is a value for an input or for a place in one.
type setTo struct{ where, text string }

func settings(kind string) setting.Parser[[]setTo] {
	return setting.Parser[[]setTo]{Kind: kind, Parse: func(s string) ([]setTo, error) {
		where, text, ok := strings.Cut(s, "=")
		if !ok || where == "" {
			return nil, setting.Unlike(kind, s)
		}
		return []setTo{{where, text}}, nil
	}}
}

// whole reads a text as it is, commas and all.
func whole(kind string) setting.Parser[[]string] {
	return setting.Parser[[]string]{Kind: kind, Parse: func(s string) ([]string, error) {
		if s == "" {
			return nil, setting.Unlike(kind, s)
		}
		return []string{s}, nil
	}}
}

func (f *inputFlags) flags(c *cobra.Command) {
	fs := c.Flags()
	setting.AddRepeatableFlag(fs, &f.files, "values", "", whole("FILE"),
		"YAML or JSON file of values (- is standard input); replaces all earlier values; "+
			"later files override earlier ones")
	setting.AddRepeatableFlag(fs, &f.set, "set", "", settings("ID=TEXT"), "value of an input, parsed as its type")
	setting.AddRepeatableFlag(fs, &f.setJSON, "set-json", "", settings("POINTER=JSON"),
		"JSON value at a pointer, such as /tags/env=\"prod\"")
	setting.AddRepeatableFlag(fs, &f.unset, "unset", "", whole("POINTER"),
		"pointer to a value to remove, such as /tags/env")
}

// readOnce returns a usage error if standard input is to be read more than once: what came first has all of it.
func (f *inputFlags) readOnce(artifact, data string) error {
	var from []string
	for _, file := range f.files {
		if file == standardInput {
			from = append(from, "--values -")
		}
	}
	for _, flag := range [][2]string{{"--artifact @-", artifact}, {"--data @-", data}} {
		if flag[1] == "@"+standardInput {
			from = append(from, flag[0])
		}
	}
	if len(from) > 1 {
		return setting.Usagef("want one file to be standard input, which is read once, found %s", strings.Join(from, " and "))
	}
	return nil
}

// givenInputs are values as a deployment is given them.
type givenInputs struct {
	values *manifest.Values
	// from is the deployment whose values stay, nil for none, and without are the inputs of these that do not.
	from    *string
	without []string
	// sent are the values with ids in the place of paths; nil if there are none besides those that stay.
	sent json.RawMessage
	// ids are the inputs that have a value which was given, then or now.
	ids []string
}

// given puts the values together. live is the deployment whose values stay, nil for none, and inputs are those of the
// version.
func (f *inputFlags) given(
	ctx context.Context, s *session, live *client.TargetLive, inputs []inputprop.Property, place manifest.Environment,
) (*givenInputs, error) {
	g := &givenInputs{values: &manifest.Values{}}
	if err := f.readFiles(ctx, s, g.values); err != nil {
		return nil, err
	}

	before, err := givenTo(live)
	if err != nil {
		return nil, err
	}
	if len(f.files) == 0 && live != nil {
		g.stay(live, before, f)
	}

	if err := f.apply(g.values, inputs, &g.without, g.from != nil); err != nil {
		return nil, setting.Usagef("%v", err)
	}
	if len(f.files) == 0 && before != nil {
		g.without = slices.DeleteFunc(g.without, func(id string) bool {
			if before.Get(id) != nil {
				return false
			}
			s.note("warning: --unset %s: nothing was given there", fault.Pointer(id))
			return true
		})
	}
	if len(f.files) > 0 && before != nil {
		g.replace(live, before)
	}

	resolved, wrong, err := manifest.ResolveReferences(ctx, inputs, g.values.Root(), place, s.resolver())
	switch {
	case err != nil:
		return nil, err
	case len(wrong) > 0:
		return nil, s.violations(g.values.Findings(wrong))
	}

	g.ids = append(slices.DeleteFunc(g.ids, func(id string) bool { return slices.Contains(g.without, id) }),
		resolved.Keys...)
	if g.from == nil || len(f.files) > 0 || len(resolved.Keys) > 0 {
		g.sent = resolved.JSON()
	}
	return g, nil
}

// readFiles reads the files of --values, each over the ones before.
func (f *inputFlags) readFiles(ctx context.Context, s *session, into *manifest.Values) error {
	for _, file := range f.files {
		text, err := s.readFile(ctx, file, document.MaxBytes)
		if err != nil {
			return err
		}
		if err := into.Read(titleOfFile(file), text); err != nil {
			return s.findings(err)
		}
	}
	return nil
}

// givenTo returns what was given to a deployment, nil if that is not known.
func givenTo(live *client.TargetLive) (*strictjson.Node, error) {
	if live == nil || len(live.GivenInputs) == 0 || string(live.GivenInputs) == "null" {
		return nil, nil
	}
	return strictjson.ParseStored(live.GivenInputs)
}

// replace lets stay of a deployment what is beside the values, such as its artifact and where it went, and none of
// these.
func (g *givenInputs) replace(live *client.TargetLive, before *strictjson.Node) {
	for _, id := range before.Keys {
		if g.values.Root().Get(id) == nil {
			g.without = append(g.without, id)
		}
	}
	g.from = &live.Id
}

// stay lets the values stay that were given to a deployment. Of those that are changed in a place within, the rest is
// known only by what was given, before.
func (g *givenInputs) stay(live *client.TargetLive, before *strictjson.Node, f *inputFlags) {
	g.from = &live.Id
	if before == nil {
		return // the server says what is missing
	}
	g.ids = slices.Clone(before.Keys)
	within := &strictjson.Node{Kind: strictjson.Object}
	for _, place := range slices.Concat(wheres(f.setJSON), f.unset) {
		keys := fault.Keys(place)
		if len(keys) < 2 || within.Get(keys[0]) != nil {
			continue
		}
		if value := before.Get(keys[0]); value != nil {
			within.Append(keys[0], value)
		}
	}
	g.values.Give("what is live", within)
}

func wheres(list []setTo) []string {
	places := make([]string, len(list))
	for i, s := range list {
		places[i] = s.where
	}
	return places
}

// apply sets and unsets values. An input of which nothing is to stay is left out of what does.
func (f *inputFlags) apply(values *manifest.Values, inputs []inputprop.Property, without *[]string, stays bool) error {
	for _, s := range f.set {
		if err := values.Set(inputs, s.where, s.text); err != nil {
			return err
		}
	}

	for _, s := range f.setJSON {
		if err := values.SetPointer(s.where, s.text); err != nil {
			return err
		}
	}

	for _, pointer := range f.unset {
		if flag := f.setAt(pointer); flag != "" {
			return fmt.Errorf("%s and --unset %s: want one of them, found both", flag, pointer)
		}

		if keys := fault.Keys(pointer); stays && len(keys) == 1 {
			*without = append(*without, keys[0])
			if values.Root().Get(keys[0]) == nil {
				continue
			}
		}
		if err := values.Unset(pointer); err != nil {
			return err
		}
	}
	return nil
}

// setAt returns the flag that gives a value at a place, or within, "" for none.
func (f *inputFlags) setAt(pointer string) string {
	for _, s := range f.set {
		if fault.Pointer(s.where) == pointer {
			return "--set " + s.where
		}
	}
	for _, s := range f.setJSON {
		if s.where == pointer || strings.HasPrefix(s.where, pointer+"/") {
			return "--set-json " + s.where
		}
	}
	return ""
}

// maxInput is the longest file that is read, in bytes; the server takes less.
const maxInput = 4 << 20

// jsonOf returns the JSON that the value of a flag is: JSON itself, or that of a file if it begins with @. "" is
// none.
func (s *session) jsonOf(ctx context.Context, flag, text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	content := []byte(text)
	if file, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if content, err = s.readFile(ctx, file, maxInput); err != nil {
			return nil, err
		}
	}
	if content = bytes.TrimSpace(content); !json.Valid(content) {
		return nil, setting.Usagef("--%s: want JSON, or @ and a file of JSON, found %.60q", flag, text)
	}
	return content, nil
}
