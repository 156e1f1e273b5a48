// Command trial deploys one service on an account of AWS and on the fake, and shows where slipway-ecs has seen
// something else on the one than on the other. It makes a service, updates it, stops an update, and destroys the
// service.
//
// The inputs are those of the module aws/ecs-service, as JSON in a file; docs/ecs.md says what has to be there. The
// settings of AWS are those of the environment.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"slipway-ecs/internal/test/fake"
)

// The exit codes, beside 0 for no difference.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitDifferent = 3
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("trial", flag.ContinueOnError)
	flags.SetOutput(stderr)
	file := flags.String("inputs", "", "file with the inputs of the service, as JSON")
	program := flags.String("program", "slipway-ecs", "the program that is tried")
	poll := flags.Duration("poll", 2*time.Second, "how often to look at what is under way on the account")
	if err := flags.Parse(args); err != nil || *file == "" {
		_, _ = fmt.Fprintln(stderr, "trial: name the file of the inputs by -inputs")
		return exitUsage
	}
	different, err := compare(*program, *file, *poll, stdout)
	switch {
	case err != nil:
		_, _ = fmt.Fprintln(stderr, "trial:", err)
		return exitFailed
	case different:
		return exitDifferent
	}
	return 0
}

func compare(program, file string, poll time.Duration, stdout io.Writer) (different bool, err error) {
	text, err := os.ReadFile(file) // #nosec G304 -- its user names it
	if err != nil {
		return false, err
	}
	var inputs map[string]any
	if err := json.Unmarshal(text, &inputs); err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}

	cloud := fake.New()
	defer cloud.Close()

	there := &account{program: program, env: append(os.Environ(), cloud.Env()...), inputs: onFake(inputs), poll: "5ms"}
	here := &account{program: program, env: os.Environ(), inputs: inputs, poll: poll.String()}
	for _, part := range parts {
		want, err := there.carryOut(part)
		if err != nil {
			return false, fmt.Errorf("on the fake: %s: %w", part.name, err)
		}

		_, _ = fmt.Fprintf(stdout, "%s …\n", part.name)
		got, err := here.carryOut(part)
		if err != nil {
			return false, errors.Join(
				fmt.Errorf("on the account: %s: %w", part.name, err), errors.New("look there for what is left"),
			)
		}

		for _, name := range slices.Sorted(maps.Keys(want)) {
			if want[name] == got[name] {
				_, _ = fmt.Fprintf(stdout, "  %s: the same\n", name)
				continue
			}
			different = true
			_, _ = fmt.Fprintf(stdout, "  %s:\n    fake     %s\n    account  %s\n", name, want[name], got[name])
		}
	}

	return different, nil
}

// onFake returns the inputs with what there is on the fake in the place of what is on the account.
func onFake(inputs map[string]any) map[string]any {
	on := maps.Clone(inputs)
	there := map[string]any{
		"cluster_arn": fake.Cluster, "target_group_arn": fake.BlueTargetGroup,
		"alternate_target_group_arn": fake.GreenTargetGroup,
		"listener_rule_arn":          fake.Rule, "test_listener_rule_arn": fake.TestRule,
	}
	if rule, _ := inputs["listener_rule_arn"].(string); strings.Contains(rule, ":listener/net/") {
		maps.Copy(there, map[string]any{
			"target_group_arn": fake.NetworkBlueTargetGroup, "alternate_target_group_arn": fake.NetworkGreenTargetGroup,
			"listener_rule_arn": fake.NetworkListener, "test_listener_rule_arn": fake.NetworkTestListener,
		})
	}
	for name, value := range there {
		if _, given := on[name]; given {
			on[name] = value
		}
	}
	return on
}

// part is one run of the program.
type part struct {
	name, action string
	// stop is whether it is stopped once ECS has begun.
	stop bool
}

var parts = []part{
	{name: "the first deployment", action: "apply"},
	{name: "an update", action: "apply"},
	{name: "an update that is stopped", action: "apply", stop: true},
	{name: "a destroy", action: "destroy"},
	{name: "a destroy of what is gone", action: "destroy"},
}

// account is where the program runs.
type account struct {
	program, poll string
	env           []string
	inputs        map[string]any
	fence         int
}

// carryOut runs the program, and returns what it has seen, without what is another each time.
func (a *account) carryOut(p part) (seen map[string]string, err error) {
	a.fence++
	inputs := maps.Clone(a.inputs)
	inputs["environment"] = map[string]any{"TRIAL": fmt.Sprint(a.fence)}

	in, err := json.Marshal(map[string]any{
		"deployment": map[string]any{
			"id": fmt.Sprintf("dep_trial%d", a.fence), "fence": fmt.Sprint(a.fence), "moduleInstanceId": "inst_trial",
			"action": p.action,
		},
		"release": map[string]any{"inputs": inputs, "artifact": map[string]any{}},
	})
	if err != nil {
		return nil, err
	}

	c := exec.Command(a.program, "-poll", a.poll) // #nosec G204 -- its user names it
	w := &watcher{process: func() *os.Process { return c.Process }, stop: p.stop, seen: map[string][]string{}}
	c.Env, c.Stdin, c.Stdout, c.Stderr = a.env, strings.NewReader(string(in)), w, os.Stderr
	err = c.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return nil, err
	}

	seen = map[string]string{"exit code": fmt.Sprint(c.ProcessState.ExitCode())}
	for name, values := range w.seen {
		if p.stop && name == "stages" {
			continue // how far it came depends on when it was stopped
		}
		if name == "fields" {
			slices.Sort(values)
			values = slices.Compact(values)
		}
		seen[name] = strings.Join(values, " ")
	}

	return seen, nil
}
