package setting_test

import (
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"slipway/internal/base/setting"
)

// parsed is what a command line and variables set.
type parsed struct {
	Name  string
	Many  []string
	Again int
}

func parse(args []string, variables map[string]string) (p parsed, err error) {
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	setting.Add(fs, &p.Name, "a-name", "nobody", setting.Text, "a name")
	setting.AddRepeatable(fs, &p.Many, "many", "x", setting.List, "many")
	setting.AddFlag(fs, &p.Again, "again", "1", setting.Between(1, 3), "how often")
	if err := fs.Parse(args); err != nil {
		return p, setting.FlagError(err)
	}
	return p, setting.FromEnvironment(fs, func(name string) (string, bool) { text, ok := variables[name]; return text, ok })
}

func TestFlagGoesBeforeVariableBeforeFallback(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args      []string
		variables map[string]string
		want      parsed
	}{
		{nil, nil, parsed{"nobody", []string{"x"}, 1}},
		{nil, map[string]string{"SLIPWAY_A_NAME": "me", "SLIPWAY_MANY": "a,b", "SLIPWAY_AGAIN": "3"}, parsed{"me", []string{"a", "b"}, 1}},
		{[]string{"--a-name=you", "--many=a", "--many=b,c", "--again=2"}, map[string]string{"SLIPWAY_A_NAME": "me"}, parsed{"you", []string{"a", "b", "c"}, 2}},
	} {
		got, err := parse(test.args, test.variables)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v %v: %s", test.args, test.variables, diff)
		}
	}
}

func TestBadTextSaysWhoHasItAndWhatIsWanted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args      []string
		variables map[string]string
		want      string
	}{
		{[]string{"--again=4"}, nil, `--again: want a number from 1 to 3, found "4"`},
		{nil, map[string]string{"SLIPWAY_MANY": "a,"}, `SLIPWAY_MANY: want ids that commas separate, found "a,"`},
		{[]string{"--other"}, nil, "unknown flag: --other"},
	} {
		_, err := parse(test.args, test.variables)
		if _, usage := errors.AsType[setting.UsageError](err); !usage || err.Error() != test.want {
			t.Errorf("%v %v: %v, want %s", test.args, test.variables, err, test.want)
		}
	}
}
