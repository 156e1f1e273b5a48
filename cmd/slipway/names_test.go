package main_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	main "slipway/cmd/slipway"
	"slipway/internal/base/fault"
	"slipway/internal/test/wordtest"
)

// foreign are names that documents take from elsewhere: HTTP, SQL, the environment, other programs and AWS.
const foreign = `GET HEAD PATCH OPTIONS
	IN WITH RECONNECT
	ID PATH SSL_CERT_DIR SSL_CERT_FILE GOGC GOMEMLIMIT AWS_REGION GITHUB_ACTIONS ACCESSIBLE
	OTEL_EXPORTER_OTLP_ENDPOINT OTEL_SERVICE_NAME OTEL_TRACES_EXPORTER OTEL_TRACES_SAMPLER
	CODE_DEPLOY DAEMON EXTERNAL STOPPED SERVICE_DEPLOYMENT_IN_PROGRESS
	ROLLBACK_FAILED ROLLBACK_IN_PROGRESS ROLLBACK_SUCCESSFUL
	--floor --peers --requests --foreground --system --offline --json`

// former are names that the changelog says are gone.
const former = `CREATE_INSTANCE DESTROY_INSTANCE MOVE_SERVICE QUARANTINE_RELEASE
	--kinds SLIPWAY_KINDS SLIPWAY_URL`

// What documents name between backquotes.
var (
	capitals    = regexp.MustCompile(`^[A-Z][A-Z_]+$`)
	codeName    = regexp.MustCompile(`\bslipway:[A-Z]\w*(?::\w+)?`)
	settingName = regexp.MustCompile(`\bSLIPWAY_[A-Z_]*[A-Z]\b`)
	flagName    = regexp.MustCompile(`(?:^|[ |,(])(--[a-z][a-zA-Z-]*)`)
	// readSetting and toldSetting are how the commands read a setting, and the runner sets one for its program.
	readSetting = regexp.MustCompile(`"(SLIPWAY_[A-Z_]+)"`)
	toldSetting = regexp.MustCompile(`\{"([A-Z_]+)", `)
)

func TestDocumentsNameWhatExists(t *testing.T) {
	t.Parallel()
	has := namesOf(t)
	seen := map[string]int{}
	for _, file := range slices.Concat(pages(t), []string{"docs/cli.md", "docs/errors.md"}) {
		elsewhere := strings.Fields(foreign)
		if file == changelog {
			elsewhere = append(elsewhere, strings.Fields(former)...)
		}
		for _, quoted := range wordtest.Quoted(page(t, file)) {
			for kind, names := range namesIn(quoted) {
				seen[kind] += len(names)
				for _, name := range names {
					if !has[name] && !slices.Contains(elsewhere, name) {
						t.Errorf("%s: `%s` names the %s %s, which does not exist", file, quoted, kind, name)
					}
				}
			}
		}
	}
	for kind, least := range map[string]int{"value": 100, "code": 90, "setting": 100, "flag": 200} {
		if seen[kind] < least {
			t.Errorf("only %d times a %s", seen[kind], kind)
		}
	}
}

func namesIn(quoted string) map[string][]string {
	names := map[string][]string{
		"code": codeName.FindAllString(quoted, -1), "setting": settingName.FindAllString(quoted, -1),
	}
	if capitals.MatchString(quoted) && !strings.HasPrefix(quoted, "SLIPWAY_") {
		names["value"] = []string{quoted}
	}
	for _, found := range flagName.FindAllStringSubmatch(quoted, -1) {
		names["flag"] = append(names["flag"], found[1])
	}
	return names
}

// namesOf returns the names of the types, enum values, codes, settings and flags.
func namesOf(t *testing.T) map[string]bool {
	t.Helper()
	has := map[string]bool{"--help": true}
	for _, d := range schema(t).Definitions {
		has[d.Name] = true
		for _, value := range d.EnumValues {
			has[value.Name] = true
		}
	}
	for _, e := range fault.Codes() {
		resource, condition, _ := strings.Cut(strings.TrimPrefix(string(e.Code), "slipway:"), ":")
		has[string(e.Code)], has["slipway:"+resource], has[condition] = true, true, true
	}
	addFlags(has, main.Commands(variables{}.lookup))
	for _, file := range files(t, "internal/remote/cli/*.go") {
		for _, found := range readSetting.FindAllStringSubmatch(readFile(t, file), -1) {
			has[found[1]] = true
		}
	}
	for _, found := range toldSetting.FindAllStringSubmatch(readFile(t, "internal/remote/runner/input.go"), -1) {
		has["SLIPWAY_"+found[1]] = true
	}
	return has
}

func addFlags(has map[string]bool, c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		has["--"+f.Name] = true
		has[main.VariableOf(f.Name)] = true
	})
	for _, below := range c.Commands() {
		addFlags(has, below)
	}
}
