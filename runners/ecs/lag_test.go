package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slipway-ecs/internal/test/fake"
)

// Reads of AWS lag behind what was written, and every request may be the one that does not see it yet.
func TestAServiceThatIsNotSeenAtFirstIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, requests := range []int{1, 2, 3, 7, 20} {
		t.Run(fmt.Sprint(requests), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.cloud.Unseen = requests
			w.mustDeploy("dep_1", 1)
			if len(w.cloud.Deployments()) != 1 || w.cloud.Calls("CreateService") != 1 {
				t.Errorf("it was created %d times, with %d service deployments", w.cloud.Calls("CreateService"), len(w.cloud.Deployments()))
			}
		})
	}
}

func TestAServiceThatIsNeverSeenIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.cloud.Unseen = 1 << 20
	if e := w.deploy("dep_1", 1); e.code != 1 || !strings.Contains(e.stderr, "ECS lists no service deployment of arn:aws:ecs:") {
		t.Errorf("it ended with %d: %s", e.code, e.stderr)
	}
}

// A destroy that believes one look would leave the service if it is.
func TestOneLookThatMissesTheServiceIsNotBelieved(t *testing.T) {
	t.Parallel()
	for look := range 12 {
		for _, action := range []string{"apply", "destroy"} {
			t.Run(fmt.Sprintf("%s/%d", action, look), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				w.mustDeploy("dep_1", 1)
				missed := w.cloud.Calls("DescribeServices") + 1 + look
				w.cloud.Intercept = func(c fake.Call) fake.Verdict {
					return fake.Verdict{Unseen: c.Operation == "DescribeServices" && c.Number == missed}
				}
				w.inputs["image"] = "web:2"
				e := w.begin("dep_2", 2, action, nil).end()
				left := map[string]int{"apply": 1, "destroy": 0}[action]
				if n := len(w.cloud.Services()); e.code != 0 || n != left {
					t.Errorf("it ended with %d: %s; %d services are left, want %d", e.code, e.stderr, n, left)
				}
				if n := w.cloud.Calls("CreateService"); n != 1 {
					t.Errorf("it was created %d times", n)
				}
			})
		}
	}
}

// Whoever renews credentials writes them into the file from which they came.
func TestExpiredCredentialsAreReadAnew(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"DescribeServices", "UpdateService", "DescribeServiceDeployments", "DescribeRules"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shifting("BLUE_GREEN", nil))
			file := filepath.Join(t.TempDir(), "credentials")
			renew := func(key string) {
				text := "[default]\naws_access_key_id = " + key + "\naws_secret_access_key = secret\naws_session_token = token\n"
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
			renew("ASIAOLD")
			w.env = []string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "AWS_SHARED_CREDENTIALS_FILE=" + file}
			w.mustDeploy("dep_1", 1)
			refused := 0
			w.cloud.Intercept = func(c fake.Call) fake.Verdict {
				if c.Done || c.AccessKey != "ASIAOLD" || c.Operation != operation && refused == 0 {
					return fake.Verdict{}
				}
				if refused++; refused == 3 {
					renew("ASIANEW")
				}
				return fake.Verdict{Code: "ExpiredTokenException", Message: "The security token included in the request is expired"}
			}
			w.inputs["image"] = "web:2"
			w.mustDeploy("dep_2", 2)
			if refused != 3 {
				t.Errorf("it was refused %d times", refused)
			}
		})
	}
}

func TestPatienceWithExpiredCredentialsEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.cloud.Intercept = func(c fake.Call) fake.Verdict {
		if c.Operation == "DescribeServiceDeployments" {
			return fake.Verdict{Code: "ExpiredTokenException", Message: "The security token included in the request is expired"}
		}
		return fake.Verdict{}
	}
	e := w.deploy("dep_1", 1)
	if e.code != 1 || !strings.Contains(e.stderr, "ExpiredTokenException") || !e.said("ECS cannot be asked, and is asked again") {
		t.Errorf("it ended with %d: %s", e.code, e.stderr)
	}
}
