package main_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"slipway-ecs/internal/test/fake"
)

// everyOperation are those that a deployment and a destroy send.
var everyOperation = []string{
	"RegisterTaskDefinition", "TagResource", "CreateService", "UpdateService", "DeleteService", "DeregisterTaskDefinition",
	"DescribeServices", "DescribeTaskDefinition", "ListTaskDefinitions", "ListServiceDeployments", "DescribeServiceDeployments",
	"DescribeServiceRevisions", "DescribeTargetGroups", "DescribeLoadBalancers", "DescribeListeners", "DescribeRules",
}

// lifetime deploys twice, and destroys.
func lifetime(t *testing.T, w *world) {
	t.Helper()
	w.mustDeploy("dep_1", 1)
	w.inputs["image"] = "web:2"
	w.mustDeploy("dep_2", 2)
	checkWhole(t, w, 2)
	if n := len(w.cloud.TaskDefinitions()); n != 2 {
		t.Errorf("%d task definitions were registered", n)
	}
	if e := w.destroy("dep_3", 3); e.code != 0 || len(w.cloud.Services())+len(w.cloud.TaskDefinitions()) != 0 {
		t.Errorf("destroyed, %d: %s; %d services are left", e.code, e.stderr, len(w.cloud.Services()))
	}
}

func TestLostAnswersAndThrottlingChangeNothing(t *testing.T) {
	t.Parallel()
	for i, operation := range everyOperation {
		for k, fault := range []struct {
			name    string
			done    bool
			verdict fake.Verdict
		}{
			{"the request is lost", false, fake.Verdict{Lose: true}},
			{"the answer is lost", true, fake.Verdict{Lose: true}},
			{"it is throttled", false, fake.Verdict{Code: "ThrottlingException", Message: "Rate exceeded"}},
			{"it has expired", false, fake.Verdict{Code: "ExpiredTokenException", Message: "The security token has expired"}},
			{"it is not seen once", false, fake.Verdict{Unseen: true}},
			{"the server fails first", false, fake.Verdict{Code: "ServerException", Message: "Service Unavailable", HTTPStatus: http.StatusServiceUnavailable}},
		} {
			if os.Getenv("SLIPWAY_PROOF") != "full" && (i+k)%3 != 0 {
				continue // each operation meets two of them, and the proof has them all
			}
			t.Run(operation+"/"+fault.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, shifting("BLUE_GREEN", nil))
				w.cloud.Tick = time.Minute // the stages are of no interest
				hit := 0
				w.cloud.Intercept = func(c fake.Call) fake.Verdict {
					if c.Operation == operation && c.Done == fault.done && c.Number%4 == 1 { // again and again
						hit++
						return fault.verdict
					}
					return fake.Verdict{}
				}
				lifetime(t, w)
				if hit == 0 {
					t.Errorf("no %s was hit", operation)
				}
			})
		}
	}
}

func TestARefusalIsASentenceWithItsRequestAndWithoutCredentials(t *testing.T) {
	t.Parallel()
	const message = "User: arn:aws:iam::123456789012:user/u is not authorized. Credential=AKIAFAKEFAKEFAKEFAKE/20260101, Signature=abcdef0123\nThe Canonical String was secret"
	for _, operation := range everyOperation {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shifting("BLUE_GREEN", nil))
			w.mustDeploy("dep_1", 1)
			w.cloud.Intercept = func(c fake.Call) fake.Verdict {
				if c.Operation == operation && !c.Done {
					return fake.Verdict{Code: "AccessDeniedException", Message: message}
				}
				return fake.Verdict{}
			}
			w.inputs["image"] = "web:2"
			var e *ended
			switch operation {
			case "DeleteService", "DeregisterTaskDefinition":
				e = w.destroy("dep_2", 2)
			case "CreateService":
				w.inputs["service_name"] = "other"
				e = w.deploy("dep_2", 2)
			default:
				e = w.deploy("dep_2", 2)
			}
			want := operation + " was refused: AccessDeniedException: User: arn:aws:iam::123456789012:user/u is not authorized. [redacted], [redacted] (request fake-request-"
			if e.code != 1 || !strings.Contains(e.stderr, want) {
				t.Errorf("it ended with %d: %s", e.code, e.stderr)
			}
			for _, secret := range []string{"AKIAFAKE", "fake-secret-of-nobody", "abcdef0123", "Canonical"} {
				if strings.Contains(e.stderr+fmt.Sprint(e.events), secret) {
					t.Errorf("it shows %s", secret)
				}
			}
		})
	}
}

// oneSentence is a line, without what is for programs.
var oneSentence = regexp.MustCompile(`^[A-Z][A-Za-z]+ (was refused: [A-Za-z]+: |got no answer: |could not be sent: )[^\n]{1,350}( \(request fake-request-[0-9]+\))?$`)

func TestEachErrorIsOneSentenceWithItsRequestAndWithoutCredentials(t *testing.T) {
	t.Parallel()
	const session = "IQoJb3JpZ2luX2VjEFAKESESSIONTOKEN"
	refuse := func(operation, code, message string) func(fake.Call) fake.Verdict {
		return func(c fake.Call) fake.Verdict {
			if c.Operation == operation {
				return fake.Verdict{Code: code, Message: message}
			}
			return fake.Verdict{}
		}
	}
	for name, c := range map[string]struct {
		env       []string
		intercept func(fake.Call) fake.Verdict
		want      string
	}{
		"no right": {nil, refuse("CreateService", "AccessDeniedException", "User: arn:aws:iam::123456789012:user/u is not authorized to perform: ecs:CreateService"),
			"CreateService was refused: AccessDeniedException: User: arn:aws:iam::123456789012:user/u is not authorized to perform: ecs:CreateService (request "},
		"credentials that have expired": {nil, refuse("DescribeServices", "ExpiredTokenException", "The security token included in the request is expired"),
			"DescribeServices was refused: ExpiredTokenException: The security token included in the request is expired (request "},
		"credentials that nobody knows": {nil, refuse("DescribeServices", "UnrecognizedClientException", "The security token included in the request is invalid."),
			"DescribeServices was refused: UnrecognizedClientException: The security token included in the request is invalid. (request "},
		"a wrong signature": {nil, refuse("DescribeServices", "InvalidSignatureException",
			"The request signature we calculated does not match. Credential=AKIAFAKEFAKEFAKEFAKE/2026, X-Amz-Security-Token="+session+"\nThe Canonical String was fake-secret-of-nobody"),
			"DescribeServices was refused: InvalidSignatureException: The request signature we calculated does not match. [redacted], X-Amz-[redacted] (request "},
		"a quota":        {nil, refuse("RegisterTaskDefinition", "LimitExceededException", strings.Repeat("Too many. ", 100)), "RegisterTaskDefinition was refused: LimitExceededException: Too many. Too many. "},
		"no answer":      {nil, func(fake.Call) fake.Verdict { return fake.Verdict{Lose: true} }, "DescribeServices got no answer: EOF"},
		"no credentials": {[]string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}, nil, "DescribeServices could not be sent: "},
		"a role that cannot be had": {[]string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "AWS_ROLE_ARN=arn:aws:iam::123456789012:role/r", "AWS_WEB_IDENTITY_TOKEN_FILE=go.mod"},
			refuse("AssumeRoleWithWebIdentity", "ExpiredTokenException", "Token expired: current date/time must be before the expiration date/time"),
			"AssumeRoleWithWebIdentity was refused: ExpiredTokenException: Token expired: current date/time must be before the expiration date/time (request "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.env = append([]string{"AWS_SESSION_TOKEN=" + session, "AWS_ENDPOINT_URL_STS=" + w.cloud.URL}, c.env...)
			w.cloud.Intercept = c.intercept
			e := w.deploy("dep_1", 1)
			if e.code != 1 || !strings.HasPrefix(e.stderr, c.want) || !oneSentence.MatchString(e.stderr) {
				t.Errorf("it ended with %d: %s", e.code, e.stderr)
			}
			for _, secret := range []string{"AKIAFAKE", "fake-secret-of-nobody", session, "slipway-ecs\n"} {
				if strings.Contains(e.stderr+fmt.Sprint(e.events, e.data), secret) {
					t.Errorf("it shows %s", secret)
				}
			}
			if len(w.cloud.Services()) != 0 {
				t.Error("a service was made")
			}
		})
	}
}

func TestWhatCannotBeAskedForAWhileIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	away := 0
	w.cloud.Intercept = func(c fake.Call) fake.Verdict {
		if c.Operation == "DescribeServiceDeployments" && !c.Done && away < 250 { // more than the SDK has retries for
			away++
			return fake.Verdict{Code: "ThrottlingException", Message: "Rate exceeded"}
		}
		return fake.Verdict{}
	}
	if e := w.mustDeploy("dep_1", 1); !e.said("ECS cannot be asked, and is asked again: DescribeServiceDeployments was refused: ThrottlingException: Rate exceeded (request ") {
		t.Errorf("it said %v", e.events)
	}
}

// What is reported is compared with the account, so it is known in the end what the service goes back to.
func TestAsLongAsECSGoesOnListsAreAskedForAgain(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]func(w *world, c fake.Call) bool{
		"after the update": func(w *world, c fake.Call) bool { return len(w.cloud.Deployments()) == 2 },
		"as it goes back":  func(_ *world, c fake.Call) bool { return c.Status == "ROLLBACK_IN_PROGRESS" },
	} {
		for _, operation := range []string{"ListServiceDeployments", "DescribeServiceRevisions", "DescribeServices"} {
			t.Run(name+"/"+operation, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				w.mustDeploy("dep_1", 1)
				w.inputs["image"] = "web:broken"
				away := 0
				w.cloud.Intercept = func(c fake.Call) fake.Verdict {
					if c.Operation == operation && !c.Done && away < 15 && when(w, c) { // one request is tried 10 times
						away++
						return fake.Verdict{Code: "ThrottlingException", Message: "Rate exceeded"}
					}
					return fake.Verdict{}
				}
				if e := w.deploy("dep_2", 2); away != 15 || e.code != 1 || !strings.Contains(e.stderr, "ended as ROLLBACK_SUCCESSFUL") {
					t.Errorf("throttled %d times, it ended with %d: %s", away, e.code, e.stderr)
				}
			})
		}
	}
}

func TestPatienceWithThrottlingEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.cloud.Intercept = func(c fake.Call) fake.Verdict {
		if c.Operation == "DescribeServiceDeployments" {
			return fake.Verdict{Code: "ThrottlingException", Message: "Rate exceeded"}
		}
		return fake.Verdict{}
	}
	if e := w.deploy("dep_1", 1); e.code != 1 || !strings.Contains(e.stderr, "what becomes of the service deployment arn:aws:ecs:") {
		t.Errorf("it ended with %d: %s", e.code, e.stderr)
	}
}
