// Package setting adds flags to a command line that have an environment variable too. A Parser reads the text of
// either, and says what is wanted and what was found where it is no good.
package setting

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

// Add adds a flag with its environment variable: SLIPWAY_ and the flag's name. Without either it has
// the fallback, or the zero value if that is empty.
func Add[T any](fs *pflag.FlagSet, to *T, name, fallback string, p Parser[T], usage string) {
	withVariable(AddFlag(fs, to, name, fallback, p, usage))
}

// AddFlag adds a flag that has no environment variable, for what is to be said with each command. It returns the flag.
func AddFlag[T any](fs *pflag.FlagSet, to *T, name, fallback string, p Parser[T], usage string) *pflag.Flag {
	return AddFlagP(fs, to, name, "", fallback, p, usage)
}

// AddFlagP adds a flag as AddFlag does, which has a letter, too.
func AddFlagP[T any](fs *pflag.FlagSet, to *T, name, letter, fallback string, p Parser[T], usage string) *pflag.Flag {
	f := fs.VarPF(newValue(to, name, fallback, p), name, letter, usage)
	if p.Kind == Bool.Kind {
		f.NoOptDefVal = "true"
	}
	return f
}

// AddRepeatable adds a flag as Add does, which may be given more than once, for a longer list.
func AddRepeatable[T any](fs *pflag.FlagSet, to *[]T, name, fallback string, p Parser[[]T], usage string) {
	withVariable(AddRepeatableFlag(fs, to, name, fallback, p, usage))
}

// AddRepeatableFlag adds a flag as AddFlag does, which may be given more than once, for a longer list.
func AddRepeatableFlag[T any](
	fs *pflag.FlagSet, to *[]T, name, fallback string, p Parser[[]T], usage string,
) *pflag.Flag {
	return fs.VarPF(&listValue[T]{value: newValue(to, name, fallback, p)}, name, "", usage)
}

func withVariable(f *pflag.Flag) {
	f.Usage += " [" + VariableOf(f.Name) + "]"
	f.Annotations = map[string][]string{variable: {VariableOf(f.Name)}}
}

func newValue[T any](to *T, name, fallback string, p Parser[T]) *value[T] {
	v := &value[T]{to: to, kind: p.Kind, parse: p.Parse}
	if fallback != "" {
		if err := v.Set(fallback); err != nil {
			panic(fmt.Errorf("slipway: fallback of --%s: %w", name, err))
		}
	}
	return v
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

// VariableOf returns the name of the environment variable of a flag.
func VariableOf(flag string) string {
	return "SLIPWAY_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// FromEnvironment gives the flags that the command line does not have the value of their variable, where
// that is set.
func FromEnvironment(fs *pflag.FlagSet, env Environment) error {
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
				failed = Usagef("%s: %v", name, err)
				return
			}
			f.Changed = true
		}
	})
	return failed
}

// FlagError returns the usage error of an error of pflag. It names the flag whose value is bad as a user writes it.
func FlagError(err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return Usagef("--%s: %v", bad.GetFlag().Name, bad.Unwrap())
	}
	return Usagef("%v", err)
}

// Needed returns a usage error if a flag which has no fallback is missing.
func Needed(fs *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if f := fs.Lookup(name); !f.Changed {
			return Usagef("--%s: want %s, found nothing; %s is not set either", name, f.Value.Type(), f.Annotations[variable][0])
		}
	}
	return nil
}
