package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// variable annotates a flag with its environment variable.
const variable = "environment variable"

// value is a flag's value: text that parse turns into a T, or says what it wants instead.
type value[T any] struct {
	to    *T
	text  string
	kind  string
	parse func(string) (T, error)
}

func (v *value[T]) String() string { return v.text }
func (v *value[T]) Type() string   { return v.kind }

func (v *value[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err != nil {
		return err
	}
	*v.to, v.text = parsed, text
	return nil
}

// setting adds a flag with its environment variable: SLIPWAY_ and the flag's name. Without either it has
// the fallback, or the zero value where that is empty.
func setting[T any](fs *pflag.FlagSet, to *T, name, fallback string, p parser[T], usage string) {
	v := newValue(to, name, fallback, p)
	f := addFlag(fs, v, name, usage)
	if p.kind == boolean.kind {
		f.NoOptDefVal = "true"
	}
}

// repeatable adds a setting whose flag may be given more than once, for a longer list.
func repeatable[T any](fs *pflag.FlagSet, to *[]T, name, fallback string, p parser[[]T], usage string) {
	addFlag(fs, &listValue[T]{value: newValue(to, name, fallback, p)}, name, usage)
}

func newValue[T any](to *T, name, fallback string, p parser[T]) *value[T] {
	v := &value[T]{to: to, kind: p.kind, parse: p.parse}
	if fallback != "" {
		if err := v.Set(fallback); err != nil {
			panic(fmt.Errorf("slipway: fallback of --%s: %w", name, err))
		}
	}
	return v
}

func addFlag(fs *pflag.FlagSet, v pflag.Value, name, usage string) *pflag.Flag {
	f := fs.VarPF(v, name, "", usage+" ["+variableOf(name)+"]")
	f.Annotations = map[string][]string{variable: {variableOf(name)}}
	return f
}

// listValue is the value of a repeatable flag. What is given first takes the place of the fallback.
type listValue[T any] struct {
	*value[[]T]
	given bool
}

func (l *listValue[T]) Set(text string) error {
	var before []T
	if l.given {
		before = *l.to
	}
	if err := l.value.Set(text); err != nil {
		return err
	}
	*l.to, l.given = slices.Concat(before, *l.to), true
	return nil
}

// variableOf names the environment variable of a flag.
func variableOf(flag string) string {
	return "SLIPWAY_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// alias lets a flag and its variable go by another name too, after the first.
func alias(fs *pflag.FlagSet, name, other string) {
	f := fs.Lookup(name)
	f.Annotations[variable] = append(f.Annotations[variable], variableOf(other))
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, given string) pflag.NormalizedName {
		if given == other {
			given = name
		}
		return pflag.NormalizedName(given)
	})
}

// fromEnvironment gives the flags that the command line does not have the value of their variable, where
// that is set.
func fromEnvironment(fs *pflag.FlagSet, env environment) error {
	var failed error
	fs.VisitAll(func(f *pflag.Flag) {
		for _, name := range f.Annotations[variable] {
			if f.Changed || failed != nil {
				return
			}
			text, ok := env(name)
			if !ok {
				continue
			}
			if err := f.Value.Set(text); err != nil {
				failed = usagef("%s: %v", name, err)
				return
			}
			f.Changed = true
		}
	})
	return failed
}

// flagError names the flag whose value is bad as a user writes it.
func flagError(err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usagef("--%s: %v", bad.GetFlag().Name, bad.Unwrap())
	}
	return usagef("%v", err)
}

// needed says that a flag which has no fallback is missing.
func needed(fs *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if f := fs.Lookup(name); !f.Changed {
			return usagef("--%s: want %s, found nothing; %s is not set either", name, f.Value.Type(), f.Annotations[variable][0])
		}
	}
	return nil
}
