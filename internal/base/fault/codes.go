package fault

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode"
)

// Code names one way in which a request can fail: <namespace>:<Resource>:<CONDITION>.
type Code string

// Entry is the entry of a code in the registry.
type Entry struct {
	Code Code
	// Status is the HTTP status of the REST surface.
	Status int
	// Meaning is when the code is returned.
	Meaning string
	// Remedy is what the caller can do.
	Remedy string
}

// Status returns the HTTP status of the code, 500 for a code that is not registered.
func (c Code) Status() int {
	if e, ok := registry[c]; ok {
		return e.Status
	}
	return http.StatusInternalServerError
}

// Noun returns the resource of the code in words: "Module instance" for slipway:ModuleInstance:NOT_FOUND.
func (c Code) Noun() string {
	parts := strings.SplitN(string(c), ":", 3)
	if len(parts) < 3 {
		return "Record"
	}

	var words strings.Builder
	for i, r := range parts[1] {
		if i > 0 && unicode.IsUpper(r) {
			words.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		words.WriteRune(r)
	}
	return words.String()
}

// Codes returns the registry, sorted by code. docs/errors.md is generated from it.
func Codes() []Entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return cmp.Compare(a.Code, b.Code) })
}

// The codes. Each has an entry in the registry and is used somewhere, which the tests hold.
const (
	RequestMalformed          Code = "slipway:Request:MALFORMED"
	RequestInvalid            Code = "slipway:Request:INVALID"
	RequestCursorInvalid      Code = "slipway:Request:CURSOR_INVALID"
	RequestUnauthenticated    Code = "slipway:Request:UNAUTHENTICATED"
	RequestForbidden          Code = "slipway:Request:FORBIDDEN"
	RequestNotFound           Code = "slipway:Request:NOT_FOUND"
	RequestMethodNotAllowed   Code = "slipway:Request:METHOD_NOT_ALLOWED"
	RequestNotAcceptable      Code = "slipway:Request:NOT_ACCEPTABLE"
	RequestPreconditionFailed Code = "slipway:Request:PRECONDITION_FAILED"
	RequestTooLarge           Code = "slipway:Request:TOO_LARGE"
	RequestUnsupportedMedia   Code = "slipway:Request:UNSUPPORTED_MEDIA_TYPE"
	RequestRateLimited        Code = "slipway:Request:RATE_LIMITED"
	RequestCrossOrigin        Code = "slipway:Request:CROSS_ORIGIN"
	RequestHostRefused        Code = "slipway:Request:HOST_REFUSED"
	RequestTimeout            Code = "slipway:Request:TIMEOUT"
	RequestAnswerTooLarge     Code = "slipway:Request:ANSWER_TOO_LARGE"
	RequestIdempotencyReused  Code = "slipway:Request:IDEMPOTENCY_KEY_REUSED"
	RequestOrganizationNeeded Code = "slipway:Request:ORGANIZATION_NEEDED"

	ServerInternal    Code = "slipway:Server:INTERNAL"
	ServerUnavailable Code = "slipway:Server:UNAVAILABLE"

	DocumentNotFound                   Code = "slipway:Document:NOT_FOUND"
	DocumentNotTrusted                 Code = "slipway:Document:NOT_TRUSTED"
	DocumentPersistedQueryNotSupported Code = "slipway:Document:PERSISTED_QUERY_NOT_SUPPORTED"

	DocumentParseFailed      Code = "slipway:Document:PARSE_FAILED"
	DocumentValidationFailed Code = "slipway:Document:VALIDATION_FAILED"
	DocumentVariablesInvalid Code = "slipway:Document:VARIABLES_INVALID"
	DocumentTooLarge         Code = "slipway:Document:TOO_LARGE"
	DocumentLimitExceeded    Code = "slipway:Document:LIMIT_EXCEEDED"

	NodeNotFound Code = "slipway:Node:NOT_FOUND"

	FeedCursorExpired Code = "slipway:Feed:CURSOR_EXPIRED"
	FeedTooSlow       Code = "slipway:Feed:TOO_SLOW"

	OrganizationNotFound  Code = "slipway:Organization:NOT_FOUND"
	OrganizationForbidden Code = "slipway:Organization:FORBIDDEN"
	OrganizationSlugTaken Code = "slipway:Organization:SLUG_TAKEN"

	TokenNotFound  Code = "slipway:Token:NOT_FOUND"
	TokenForbidden Code = "slipway:Token:FORBIDDEN" //nolint:gosec // the name of an error

	ProjectNotFound  Code = "slipway:Project:NOT_FOUND"
	ProjectForbidden Code = "slipway:Project:FORBIDDEN"
	ProjectSlugTaken Code = "slipway:Project:SLUG_TAKEN"
	ProjectNotEmpty  Code = "slipway:Project:NOT_EMPTY"
	ProjectArchived  Code = "slipway:Project:ARCHIVED"

	EnvironmentNotFound  Code = "slipway:Environment:NOT_FOUND"
	EnvironmentForbidden Code = "slipway:Environment:FORBIDDEN"
	EnvironmentSlugTaken Code = "slipway:Environment:SLUG_TAKEN"
	EnvironmentNotEmpty  Code = "slipway:Environment:NOT_EMPTY"
	EnvironmentArchived  Code = "slipway:Environment:ARCHIVED"

	ModuleDefinitionNotFound  Code = "slipway:ModuleDefinition:NOT_FOUND"
	ModuleDefinitionForbidden Code = "slipway:ModuleDefinition:FORBIDDEN"
	ModuleDefinitionTypeTaken Code = "slipway:ModuleDefinition:TYPE_TAKEN"
	ModuleDefinitionInUse     Code = "slipway:ModuleDefinition:IN_USE"

	ModuleVersionNotFound   Code = "slipway:ModuleVersion:NOT_FOUND"
	ModuleVersionTaken      Code = "slipway:ModuleVersion:VERSION_TAKEN"
	ModuleVersionRuleBroken Code = "slipway:ModuleVersion:RULE_BROKEN"

	InputsRuleBroken Code = "slipway:Inputs:RULE_BROKEN"

	ModuleInstanceNotFound    Code = "slipway:ModuleInstance:NOT_FOUND"
	ModuleInstanceForbidden   Code = "slipway:ModuleInstance:FORBIDDEN"
	ModuleInstanceNothingLive Code = "slipway:ModuleInstance:NOTHING_LIVE"
	ModuleInstanceNameTaken   Code = "slipway:ModuleInstance:NAME_TAKEN"
	ModuleInstanceInUse       Code = "slipway:ModuleInstance:IN_USE"

	ModuleInstanceArchived       Code = "slipway:ModuleInstance:ARCHIVED"
	ModuleInstanceStillLive      Code = "slipway:ModuleInstance:STILL_LIVE"
	ModuleInstanceHasDeployments Code = "slipway:ModuleInstance:HAS_DEPLOYMENTS"
	ModuleInstanceNotEmpty       Code = "slipway:ModuleInstance:NOT_EMPTY"

	DefaultValueDefinitionNotFound     Code = "slipway:DefaultValueDefinition:NOT_FOUND"
	DefaultValueDefinitionForbidden    Code = "slipway:DefaultValueDefinition:FORBIDDEN"
	DefaultValueDefinitionGivenIDTaken Code = "slipway:DefaultValueDefinition:GIVEN_ID_TAKEN"
	DefaultValueDefinitionInUse        Code = "slipway:DefaultValueDefinition:IN_USE"
	DefaultValueDefinitionRuleBroken   Code = "slipway:DefaultValueDefinition:RULE_BROKEN"

	DeploymentNotFound           Code = "slipway:Deployment:NOT_FOUND"
	DeploymentForbidden          Code = "slipway:Deployment:FORBIDDEN"
	DeploymentTargetNotSucceeded Code = "slipway:Deployment:TARGET_NOT_SUCCEEDED"
	DeploymentInputsInvalid      Code = "slipway:Deployment:INPUTS_INVALID"
	DeploymentInProgress         Code = "slipway:Deployment:IN_PROGRESS"
	DeploymentResourceTaken      Code = "slipway:Deployment:RESOURCE_TAKEN"
	DeploymentApprovalsMissing   Code = "slipway:Deployment:APPROVALS_MISSING"
	DeploymentOwnApproval        Code = "slipway:Deployment:OWN_APPROVAL"
	DeploymentNotPromoted        Code = "slipway:Deployment:NOT_PROMOTED"
	DeploymentRejected           Code = "slipway:Deployment:REJECTED"
	DeploymentSuperseded         Code = "slipway:Deployment:SUPERSEDED"
	DeploymentExpired            Code = "slipway:Deployment:EXPIRED"
	DeploymentTooManyWaiting     Code = "slipway:Deployment:TOO_MANY_WAITING"
	DeploymentPlanMoved          Code = "slipway:Deployment:PLAN_MOVED"

	RuleNotFound       Code = "slipway:Rule:NOT_FOUND"
	RuleForbidden      Code = "slipway:Rule:FORBIDDEN"
	RuleLimit          Code = "slipway:Rule:LIMIT"
	RuleNameTaken      Code = "slipway:Rule:NAME_TAKEN"
	RuleNotOverridable Code = "slipway:Rule:NOT_OVERRIDABLE"

	EnvironmentClosed       Code = "slipway:Environment:CLOSED"
	DeploymentWrongState    Code = "slipway:Deployment:WRONG_STATE"
	DeploymentCanceled      Code = "slipway:Deployment:CANCELED"
	DeploymentFailed        Code = "slipway:Deployment:FAILED"
	DeploymentInputsUnknown Code = "slipway:Deployment:INPUTS_UNKNOWN"
	DeploymentLiveChanged   Code = "slipway:Deployment:LIVE_CHANGED"
	DeploymentLeaseLost     Code = "slipway:Deployment:LEASE_LOST"
	DeploymentLeaseExpired  Code = "slipway:Deployment:LEASE_EXPIRED"
	DeploymentNotReplayable Code = "slipway:Deployment:NOT_REPLAYABLE"
	DeploymentRolledBack    Code = "slipway:Deployment:ROLLED_BACK"

	ReleaseNotFound       Code = "slipway:Release:NOT_FOUND"
	ReleaseUnavailable    Code = "slipway:Release:UNAVAILABLE"
	ReleaseDigestMismatch Code = "slipway:Release:DIGEST_MISMATCH"
	ReleaseQuarantined    Code = "slipway:Release:QUARANTINED"
	ReleaseNotQuarantined Code = "slipway:Release:NOT_QUARANTINED"
	ReleaseForbidden      Code = "slipway:Release:FORBIDDEN"

	ServiceNotFound Code = "slipway:Service:NOT_FOUND"

	AuditEventForbidden Code = "slipway:AuditEvent:FORBIDDEN"
)

// entries are the registry.
var entries = []Entry{
	{RequestMalformed, 400,
		"The body or the query string has the wrong form: not JSON, a duplicate or unknown key, a wrong type, or an " +
			"unknown, repeated or empty parameter.",
		"Fix the fields that details name and send the request again."},
	{RequestInvalid, 400,
		"A field of the input is invalid by itself: its length, its format, a missing member or a number out of range.",
		"Fix the fields that details name and send the request again."},
	{RequestCursorInvalid, 400,
		"The cursor was not issued for this list, this filter and this caller.",
		"Start again without a cursor."},
	{RequestUnauthenticated, 401,
		"The bearer token is missing, malformed, unknown, expired or revoked.",
		"Send Authorization: Bearer with a valid token."},
	{RequestForbidden, 403,
		"The caller's role does not allow this operation.",
		"Use a token whose role allows it."},
	{RequestNotFound, 404,
		"Nothing exists at this path.",
		"Compare the path with /openapi.json."},
	{RequestMethodNotAllowed, 405,
		"The path does not support this method.",
		"Use one of the methods in the Allow header."},
	{RequestNotAcceptable, 406,
		"The server supports none of the media types in Accept.",
		"Accept application/json, or for GraphQL application/graphql-response+json."},
	{RequestPreconditionFailed, 412,
		"The record has changed since the version in If-Match.",
		"Read the record again and repeat your change."},
	{RequestTooLarge, 413,
		"The body is over the limit.",
		"Send a smaller body."},
	{RequestUnsupportedMedia, 415,
		"The Content-Type of the body is not JSON.",
		"Send Content-Type: application/json."},
	{RequestRateLimited, 429,
		"The caller sent too many requests in a short time, or has too many concurrent ones.",
		"Wait for the time in Retry-After."},
	{RequestCrossOrigin, 403,
		"A browser sent the request for a page of an origin that is not allowed.",
		"Serve the page from an allowed origin; the operator sets these with --allowed-origins."},
	{RequestHostRefused, 421,
		"The Host header names neither this machine nor the server's base URL, and the request did not pass a trusted " +
			"proxy.",
		"Use localhost, or ask the operator to set --base-url, or --trusted-proxies for a proxy."},
	{RequestTimeout, 503,
		"The request took longer than the server allows.",
		"Request less, or try again."},
	{RequestAnswerTooLarge, 400,
		"The response would be over the size limit; metadata has the limit, its value and the largest field. If a " +
			"mutation was executed, the error has the ids that it created.",
		"Request less, or smaller pages; read what a mutation created by its id."},
	{RequestIdempotencyReused, 422,
		"The idempotency key was already used for another request.",
		"Use a new key for each request; repeat a request with exactly the same arguments."},
	{RequestOrganizationNeeded, 400,
		"The caller belongs to no organization, and the request does not name one.",
		"Send Slipway-Organization with the id or slug of an organization from `viewer { organizations { slug } }`, or " +
			"with global for shared records."},

	{ServerInternal, 500,
		"The server has an internal error. The log has the cause under the request id.",
		"Try again; if it fails again, give the operator the request id."},
	{ServerUnavailable, 503,
		"The server cannot reach its database, is shutting down, or found a record that others keep changing.",
		"Try again after the time in Retry-After."},

	{DocumentNotFound, 404,
		"No trusted document has this id.",
		"Send the document itself, or ask the operator to add it to --trusted-documents."},
	{DocumentNotTrusted, 403,
		"The server accepts trusted documents only, and this is another document.",
		"Send the id of a trusted document as documentId, or ask the operator to add the document to --trusted-documents."},
	{DocumentPersistedQueryNotSupported, 400,
		"The request has the hash of a document without its text, and no trusted document has this hash. The server does " +
			"not store documents that callers send.",
		"Send the text of the document; clients with persisted queries do so automatically."},

	{DocumentParseFailed, 400,
		"The GraphQL document cannot be parsed.",
		"Fix the document at the location in the error."},
	{DocumentValidationFailed, 400,
		"The GraphQL document does not match the schema.",
		"Fix the document at the location in the error."},
	{DocumentVariablesInvalid, 400,
		"A variable does not match its declared type.",
		"Fix the variable at the path in the error."},
	{DocumentTooLarge, 413,
		"The GraphQL document is over a limit.",
		"Request less in one document."},
	{DocumentLimitExceeded, 400,
		"The GraphQL operation is over a limit of the server; metadata has the limit, its value and the value found.",
		"Request less in one operation."},

	{NodeNotFound, 404,
		"No object has this id, or the caller cannot see it.",
		"Check the id."},

	{FeedCursorExpired, 410,
		"The changes since this cursor are no longer known: it is more than 7 days old, or from another database, as " +
			"after a restore.",
		"Read the list again, and subscribe with its feedCursor."},
	{FeedTooSlow, 503,
		"The subscriber reads too slowly, and too many changes are queued.",
		"Subscribe again after the cursor of the last item."},

	{OrganizationNotFound, 404,
		"No organization has this id or slug, or the caller cannot see it.",
		"Check the id or slug."},
	{OrganizationForbidden, 403,
		"The caller's role cannot list or create organizations.",
		"Use a superadmin's token."},
	{OrganizationSlugTaken, 409,
		"Another organization has this slug.",
		"Choose another slug."},

	{TokenNotFound, 404,
		"No token of the organization has this id.",
		"List the tokens and check the id."},
	{TokenForbidden, 403,
		"The caller's role cannot manage tokens, or the token has a role or a scope that exceeds the caller's.",
		"Use an admin's token; a token cannot grant more than it has."},

	{ProjectNotFound, 404,
		"No project has this id, or the caller cannot see it.",
		"Check the id."},
	{ProjectForbidden, 403,
		"The caller's role or scope does not allow changes to this project; details have the scope.",
		"Use a token whose role and scope allow it."},
	{ProjectSlugTaken, 409,
		"Another project of the organization that is not archived has this slug.",
		"Choose another slug."},
	{ProjectNotEmpty, 409,
		"The project has environments; archived ones count.",
		"Delete them first, or archive the project."},
	{ProjectArchived, 409,
		"The project is archived.",
		"Choose another project, or ask an admin to restore it."},

	{EnvironmentNotFound, 404,
		"No environment has this id, or the caller cannot see it.",
		"Check the id."},
	{EnvironmentForbidden, 403,
		"The caller's role or scope does not allow changes to this environment; details have the scope.",
		"Use a token whose role and scope allow it."},
	{EnvironmentSlugTaken, 409,
		"Another environment of the project that is not archived has this slug.",
		"Choose another slug."},
	{EnvironmentNotEmpty, 409,
		"The environment has instances; archived ones count.",
		"Delete them first, or archive the environment."},
	{EnvironmentArchived, 409,
		"The environment or its project is archived.",
		"Choose another environment, or ask an admin to restore it."},

	{ModuleDefinitionNotFound, 404,
		"No module definition has this id, or the caller cannot see it.",
		"Check the id."},
	{ModuleDefinitionForbidden, 403,
		"The caller's role does not allow changes to this module definition.",
		"Use a token whose role allows it; only superadmins can change global definitions."},
	{ModuleDefinitionTypeTaken, 409,
		"Another module definition of the same owner has this type.",
		"Choose another type."},
	{ModuleDefinitionInUse, 409,
		"The module has instances, or inputs of published versions refer to its type; details name some of them.",
		"Keep the type, or create a module definition with the other type."},

	{ModuleVersionNotFound, 404,
		"No module version has this id, or the caller cannot see it.",
		"Check the id."},
	{ModuleVersionTaken, 409,
		"This version of the module is already published, and published versions never change.",
		"Publish under a new version."},
	{ModuleVersionRuleBroken, 422,
		"The inputs have the right form, but break a rule that involves several fields.",
		"Fix the fields that details name and send the request again."},

	{InputsRuleBroken, 422,
		"The inputs have the right form, but break a rule that involves several fields.",
		"Fix the fields that details name and send the request again."},

	{ModuleInstanceNotFound, 404,
		"No module instance has this id, or the caller cannot see it.",
		"Check the id."},
	{ModuleInstanceForbidden, 403,
		"The caller's role or scope does not allow changes to this instance; details have the scope.",
		"Use a token whose role and scope allow it."},
	{ModuleInstanceNothingLive, 409,
		"The instance has no live deployment to destroy.",
		"Read the instance again."},
	{ModuleInstanceNameTaken, 409,
		"Another instance of the environment that is not archived has this name.",
		"Choose another name."},
	{ModuleInstanceArchived, 409,
		"The instance, its environment or its project is archived and accepts no deployments.",
		"Ask an admin to restore it, or deploy to another instance."},
	{ModuleInstanceStillLive, 409,
		"Instances are still live; details name them.",
		"Destroy them first, or acknowledge that they keep running."},
	{ModuleInstanceHasDeployments, 409,
		"The instance has deployments, and their history is kept.",
		"Archive the instance instead."},
	{ModuleInstanceNotEmpty, 409,
		"A cloud service belongs to the instance; metadata names it.",
		"Move the service to another instance first."},
	{ModuleInstanceInUse, 409,
		"Live or active deployments of other instances refer to this instance; details name some of them.",
		"Deploy the other instances without the reference first, or acknowledge the dependents."},

	{DefaultValueDefinitionNotFound, 404,
		"No default value definition has this id, or the caller cannot see it.",
		"Check the id."},
	{DefaultValueDefinitionForbidden, 403,
		"The caller's role or scope does not allow changes to default value definitions; details have the scope.",
		"Use an admin's token."},
	{DefaultValueDefinitionGivenIDTaken, 409,
		"Another default value definition of the organization has this givenId.",
		"Choose another givenId."},
	{DefaultValueDefinitionInUse, 409,
		"A published module version refers to the definition.",
		"Publish versions that no longer refer to it, or keep it."},
	{DefaultValueDefinitionRuleBroken, 422,
		"The schema has the right form, but breaks a rule that involves several fields.",
		"Fix the fields that details name and send the request again."},

	{DeploymentNotFound, 404,
		"No deployment has this id, or the caller cannot see it.",
		"Check the id."},
	{DeploymentForbidden, 403,
		"The caller's role or scope does not allow this action on a deployment; details have the scope.",
		"Use a token whose role and scope allow it."},
	{DeploymentTargetNotSucceeded, 422,
		"The target of the rollback did not succeed.",
		"Choose a target with the status SUCCEEDED."},
	{DeploymentInputsInvalid, 422,
		"The values do not match the inputs of the module version.",
		"Fix the fields that details name; validateInputs checks values first."},
	{DeploymentInProgress, 409,
		"Another deployment of the instance is active; details name it.",
		"Wait until it finishes, or cancel it; a running deployment is active until its program ends."},
	{DeploymentApprovalsMissing, 409,
		"The waiting deployment lacks approvals; metadata counts them by rule.",
		"Ask others to approve it; its requirements show how many and who may."},
	{DeploymentOwnApproval, 403,
		"The caller is the author of the deployment, or one of the two created the other's token.",
		"Ask another person to approve it."},
	{DeploymentNotPromoted, 422,
		"A rule requires that the release was live elsewhere first, for long enough; metadata names the environments.",
		"Deploy there first, then promote from there."},
	{DeploymentRejected, 409,
		"The waiting deployment was rejected.",
		"Read its error, and create another deployment."},
	{DeploymentSuperseded, 409,
		"Another deployment of the instance succeeded while this one waited for approvals.",
		"Create another deployment against the live one."},
	{DeploymentExpired, 409,
		"The deployment waited too long for approvals.",
		"Create another deployment."},
	{DeploymentTooManyWaiting, 409,
		"The maximum number of deployments of the instance already wait for approvals.",
		"Reject or cancel one first."},
	{DeploymentPlanMoved, 409,
		"The plan is out of date; metadata names what changed.",
		"Review a new plan, and send its token."},
	{RuleNotFound, 404,
		"No rule has this id, or the caller cannot see it.",
		"Check the id."},
	{RuleForbidden, 403,
		"The caller's role or scope does not allow changes to this rule; details have the scope.",
		"Use a token whose role and scope allow it."},
	{RuleLimit, 409,
		"The organization has the maximum number of rules in force.",
		"End a rule first."},
	{RuleNameTaken, 409,
		"A rule in force in the same place has this name; metadata has its id.",
		"Choose another name, or change or end that rule."},
	{RuleNotOverridable, 403,
		"An unmet rule cannot be overridden.",
		"Meet the rule, or ask an admin to change or end it."},
	{EnvironmentClosed, 409,
		"A rule closes the environment now; metadata has its opening time, if known.",
		"Wait, or override the rule with a reason, which takes an admin's token."},
	{DeploymentResourceTaken, 409,
		"The service that the deployment names belongs to another instance; metadata names it.",
		"Name the service of this instance, or ask an admin to move it with moveService."},
	{DeploymentWrongState, 409,
		"The status of the deployment does not allow this transition, it was started outside, or it is too early for " +
			"force.",
		"Read the deployment again."},
	{DeploymentCanceled, 409,
		"The deployment was canceled before it succeeded. Recorded as its error.",
		"Redeploy it if you still want it."},
	{DeploymentFailed, 422,
		"The deployment failed. Recorded as its error.",
		"Read the description, fix the cause and redeploy."},
	{DeploymentInputsUnknown, 422,
		"The inputs of the deployment were not recorded: it was started outside, or created by an older Slipway.",
		"Send all inputs with this request."},
	{DeploymentLiveChanged, 409,
		"Another deployment is live now than the one that the caller named.",
		"Review the live deployment and try again."},
	{DeploymentLeaseLost, 409,
		"The lease is no longer valid: it ran out, the deployment ended, or the time to stop a canceled program is over.",
		"Stop the program; metadata has the status of the deployment."},
	{DeploymentLeaseExpired, 409,
		"The runner did not renew its lease in time, so its progress is unknown. Recorded as the deployment's error.",
		"Check what was changed, then redeploy."},
	{DeploymentNotReplayable, 422,
		"The deployment destroyed the instance, and a destroy cannot be repeated.",
		"Roll back to an earlier success, or create a new deployment."},
	{DeploymentRolledBack, 422,
		"The program ended successfully, but the cloud rolled the deployment back, stopped it or reported a failure. " +
			"Recorded as its error, with the cloud's reason in details.",
		"Fix the cause and deploy again; the earlier live deployment is still live."},

	{ReleaseNotFound, 404,
		"No release has this id, or the caller cannot see it.",
		"Check the id."},
	{ReleaseUnavailable, 422,
		"The source deployment has no stored release: it was removed, or the deployment was started outside.",
		"Create a new deployment."},
	{ReleaseDigestMismatch, 422,
		"The stored release is damaged: its content does not match its digest.",
		"Do not deploy it; create a new deployment and tell the operator."},
	{ReleaseQuarantined, 422,
		"The release is quarantined; details show the reason and the author.",
		"Deploy another release, or ask an admin to lift the quarantine."},
	{ReleaseNotQuarantined, 409,
		"The release has no quarantine to lift.",
		"Read the release again."},
	{ReleaseForbidden, 403,
		"The caller's role cannot quarantine releases.",
		"Use an admin's token."},

	{ServiceNotFound, 404,
		"No deployment of the organization names this cloud service.",
		"Compare the ARN with the data.serviceArn of a deployment."},

	{AuditEventForbidden, 403,
		"The caller's role cannot read audit events.",
		"Use an admin's token."},
}

// registry has the entries by their codes.
var registry = index(entries)

func index(entries []Entry) map[Code]Entry {
	m := make(map[Code]Entry, len(entries))
	for _, e := range entries {
		m[e.Code] = e
	}
	return m
}
