package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/remote/cli"
)

// asProgram is the variable that makes the test's program be the commands.
const asProgram = "SLIPWAY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	debug.SetGCPercent(200) // as the program does
	h := &home{config: cli.Config{Env: os.LookupEnv}, stdin: os.Stdin}
	code := h.execute(context.Background(), os.Stdout, os.Stderr, os.Args[1:]...)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	_, _ = os.Stderr.Write(status)
	os.Exit(code)
}

var mostResident = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// manyInstances is a server with so many instances.
func manyInstances(t *testing.T, total int) *httptest.Server {
	t.Helper()
	return answering(t, func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Variables struct {
				First int
				After string
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		from, _ := strconv.Atoi(asked.Variables.After)
		var nodes []string
		for i := from; i < min(from+asked.Variables.First, total); i++ {
			nodes = append(nodes, instanceJSON(i))
		}
		end := from + len(nodes)
		_, _ = fmt.Fprintf(w, `{"data":{"moduleInstances":{"nodes":[%s],"pageInfo":{"hasNextPage":%t,"endCursor":"%d"}}}}`, strings.Join(nodes, ","), end < total, end)
	})
}

// instanceJSON is an instance as a server answers it, with everything that a list asks for.
func instanceJSON(i int) string {
	place := func(kind, name string) string {
		return fmt.Sprintf(`{"id":"%s_%026d","slug":"%s","name":"%s","type":"acme/%s"}`, kind, i%7, name, name, name)
	}
	deployment := fmt.Sprintf(`{"id":"dep_%026d","status":"SUCCEEDED","release":{"id":"rel_%026d","moduleVersion":{"id":"mver_%026d","version":"1.%d.0"}},"createdAt":"2026-03-01T09:30:00Z","createdBy":"ci","completedAt":"2026-03-01T09:31:00Z"}`, i, i, i%50, i%50)
	return fmt.Sprintf(`{"id":"inst_%026d","name":"service-%d","project":%s,"environment":%s,"moduleDefinition":%s,"liveDeployment":%s,"activeDeployment":null,"lastDeployment":%s,"drift":null,"createdAt":"2026-03-01T09:30:00Z","updatedAt":"2026-03-01T09:30:00Z","destroyedAt":null,"archivedAt":null}`,
		i, i, place("prj", "shop"), place("env", "prod"), place("mod", "queue"), deployment, deployment)
}

func TestTenThousandInstancesAreListedPageByPage(t *testing.T) {
	t.Parallel()
	const total, most = 10_000, 60 << 10 // KiB
	s := manyInstances(t, total)
	for format, records := range map[string]string{"json": `"name": "service-`, "yaml": "name: service-", "table": "shop/prod/service-", "tsv": "shop/prod/service-", "name": "shop/prod/service-"} {
		c := exec.CommandContext(t.Context(), os.Args[0], "instances", "list", "--limit", "0", "-o", format)
		c.Env = append(os.Environ(), asProgram+"=1", "HOME="+t.TempDir(), "SLIPWAY_SERVER="+s.URL, "SLIPWAY_TOKEN=slp_secret", "SLIPWAY_CONTEXT=")
		var stderr strings.Builder
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		if got := strings.Count(string(out), records); got != total {
			t.Errorf("%s: %d instances", format, got)
		}
		if format == "json" && !json.Valid(out) {
			t.Error("it is no JSON")
		}
		found := mostResident.FindStringSubmatch(stderr.String())
		if found == nil {
			t.Fatal(stderr.String())
		}
		if used, _ := strconv.Atoi(found[1]); used > most {
			t.Errorf("%s: %d KiB resident, want at most %d", format, used, most)
		}
		t.Logf("%s: %s KiB", format, found[1])
	}
}

func TestLimitIsKeptAndMoreIsTold(t *testing.T) {
	t.Parallel()
	s := manyInstances(t, 250)
	h := newHome(t).at(s.URL, "slp_secret")
	for limit, test := range map[string]struct {
		shown int
		more  bool
	}{"1": {1, true}, "100": {100, true}, "150": {150, true}, "249": {249, true}, "250": {250, false}, "1000": {250, false}, "0": {250, false}} {
		o := h.run(t, "instances", "list", "--limit", limit, "-o", "name")
		if got := strings.Count(o.stdout, "\n"); o.code != 0 || got != test.shown || strings.Contains(o.stderr, "there are more") != test.more {
			t.Errorf("--limit %s: %d shown, %s", limit, got, o.stderr)
		}
	}
	if o := h.run(t, "instances", "list", "-o", "name"); strings.Count(o.stdout, "\n") != 50 {
		t.Errorf("without --limit: %d shown", strings.Count(o.stdout, "\n"))
	}
	h.mustFail(t, 2, []string{"--limit: want a number from 0 to"}, "instances", "list", "--limit", "-1")
}

// Two servers answer a list in two pages; of one the second is refused.
func TestListThatBreaksOffFails(t *testing.T) {
	t.Parallel()
	whole := manyInstances(t, 150)
	s := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 0 && strings.Contains(fmt.Sprint(r.Header), "gzip") {
			answer := httptest.NewRecorder()
			whole.Config.Handler.ServeHTTP(answer, r)
			if !strings.Contains(answer.Body.String(), "service-149") {
				_, _ = w.Write(answer.Body.Bytes())
				return
			}
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `{"code":"slipway:Request:FORBIDDEN","message":"Revoked."}`)
	})
	o := newHome(t).at(s.URL, "slp_secret").run(t, "instances", "list", "--limit", "0", "-o", "json")
	if o.code != 4 || json.Valid([]byte(o.stdout)) || !strings.Contains(o.stderr, `"code":"slipway:Request:FORBIDDEN"`) {
		t.Errorf("exit code %d, %s", o.code, o.stderr)
	}
}

func TestListThatNeverEndsIsEnded(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"data":{"moduleInstances":{"nodes":[%s],"pageInfo":{"hasNextPage":true,"endCursor":"x"}}}}`, instanceJSON(1))
	})
	o := newHome(t).at(s.URL, "slp_secret").run(t, "instances", "list", "--limit", "0", "-o", "name")
	if o.code != 1 || !strings.Contains(o.stderr, "the same page again") {
		t.Errorf("%+v", o)
	}
}
