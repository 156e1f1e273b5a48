package main_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var pasted = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// toPaste returns a script of what somebody pastes who takes a page from its first block to its last.
func toPaste(t *testing.T, file string) string {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not on this machine, and the page's commands call it")
	}
	text, err := os.ReadFile("../../docs/" + file)
	if err != nil {
		t.Fatal(err)
	}
	script := "set -eu\n"
	for _, found := range pasted.FindAllStringSubmatch(string(text), -1) {
		script += found[1]
	}
	return script
}

func TestThePageOfECSCanBePasted(t *testing.T) {
	t.Parallel()
	// Amazon's program is one that notes what it is asked, and answers with an ARN.
	const aws = `aws() {
  printf 'aws %s\n' "$*" | tr '\n' ' ' >>asked; echo >>asked
  for word; do case $word in file://*) cat "${word#file://}" >>asked; esac; done
  case $2 in create-*) echo "arn:$2" ;; esac
}
curl() { command curl --retry 10 --retry-connrefused "$@"; }
slipway init --org acme >/dev/null
slipway serve 2>serve.log &
`
	n := newNewcomer(t)
	printed := n.shell(aws + toPaste(t, "ecs.md"))
	if !strings.HasSuffix(printed, "\n202\n") {
		t.Errorf("the event is not answered 202: %s", printed)
	}
	text, err := os.ReadFile(n.path("asked"))
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	token, err := os.ReadFile(n.path("eventbridge.token"))
	if err != nil {
		t.Fatal(err)
	}
	for _, asks := range []string{
		`"ApiKeyValue": "` + strings.TrimSpace(string(token)) + `"`, "--connection-arn arn:create-connection",
		"https://slipway.example.com/integrations/ecs/events", `"Resource": "arn:create-api-destination"`,
		"Arn=arn:create-api-destination,RoleArn=arn:create-role",
	} {
		if !strings.Contains(string(text), asks) {
			t.Errorf("no %s in %s", asks, text)
		}
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "aws ") && strings.Contains(line, "slp_") {
			t.Errorf("the token is on a command line: %s", line)
		}
	}
	if _, err := os.Stat(n.path("connection.json")); err == nil {
		t.Error("the file with the key stays")
	}
}

func TestThePageOfPersistedDocumentsCanBePasted(t *testing.T) {
	t.Parallel()
	printed := newNewcomer(t).shell(toPaste(t, "persisted-documents.md"))
	if want := `{"data":{"moduleDefinitions":{"nodes":[]}}`; strings.Count(printed, want) != 2 {
		t.Errorf("not two answers %s in %s", want, printed)
	}
}
