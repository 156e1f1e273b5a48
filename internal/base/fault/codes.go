package fault

import (
	"cmp"
	"net/http"
	"slices"
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
		"The body or the query string is not what the operation takes: not JSON, a duplicate or undeclared key, a wrong " +
			"type, an unknown, repeated or empty parameter.",
		"Mend the places that details name and send it again."},
	{RequestInvalid, 400,
		"A field of the input is wrong by itself: a length, a format, a missing member, a number out of range.",
		"Mend the places that details name and send it again."},
	{RequestCursorInvalid, 400,
		"The cursor was not issued for this list, this filter and this caller.",
		"Start again without a cursor."},
	{RequestUnauthenticated, 401,
		"There is no bearer token where one is needed, or it is malformed, unknown, expired or revoked.",
		"Send Authorization: Bearer with a valid token."},
	{RequestForbidden, 403,
		"The caller's role does not allow this operation.",
		"Use a token whose role allows it."},
	{RequestNotFound, 404,
		"There is nothing at this path.",
		"Compare the path with /openapi.json."},
	{RequestMethodNotAllowed, 405,
		"The path does not take this method.",
		"Use one of the methods in the Allow header."},
	{RequestNotAcceptable, 406,
		"None of the media types in Accept can be served.",
		"Accept application/json, or for GraphQL application/graphql-response+json."},
	{RequestPreconditionFailed, 412,
		"The record has changed since the version that If-Match names.",
		"Read the record again and repeat the change on it."},
	{RequestTooLarge, 413,
		"The body is over the limit.",
		"Send less."},
	{RequestUnsupportedMedia, 415,
		"The body is not JSON by its Content-Type.",
		"Send Content-Type: application/json."},
	{RequestRateLimited, 429,
		"Too many requests in too short a time, or more at once than one caller may have.",
		"Wait as long as Retry-After says."},
	{RequestCrossOrigin, 403,
		"A browser sent the request for a page of another origin, which is not allowed.",
		"Serve the page from an allowed origin; the operator names them by --allowed-origins."},
	{RequestHostRefused, 421,
		"The Host header names neither this machine nor the server's base URL, and no trusted proxy brought the request.",
		"Ask under localhost; or have the operator set --base-url, or --trusted-proxies for a proxy."},
	{RequestTimeout, 503,
		"The request took longer than it may.",
		"Ask for less, or try again."},
	{RequestAnswerTooLarge, 400,
		"The answer would have more bytes than it may; metadata names the limit, its value and the field that most of it " +
			"is. A mutation that has been carried out says so, with the ids that it made.",
		"Ask for less in one request, or in smaller pages; read what a mutation made by its id."},
	{RequestIdempotencyReused, 422,
		"The idempotency key was used before, for another request.",
		"Use a new key for each request; repeat one with the very same arguments."},
	{RequestOrganizationNeeded, 400,
		"The caller acts in no organization by itself, and the request does not say whose things it is about.",
		"Send Slipway-Organization with the id or slug of an organization, which `viewer { organizations { slug } }` " +
			"lists; global names what is everybody's."},

	{ServerInternal, 500,
		"Something is wrong inside the server. The log has the cause under the request id.",
		"Try again; if it stays, give the operator the request id."},
	{ServerUnavailable, 503,
		"The server cannot reach its database, is shutting down, or finds a record that others change all the time.",
		"Try again as Retry-After says."},

	{DocumentNotFound, 404,
		"No trusted document has this id.",
		"Send the document itself, or have the operator add it to --trusted-documents."},
	{DocumentNotTrusted, 403,
		"The server runs trusted documents only, and this is none.",
		"Send the id of a trusted document as documentId, or have the operator add it to --trusted-documents."},
	{DocumentPersistedQueryNotSupported, 400,
		"The request has the hash of a document, not its text, and no trusted document has this hash. The server keeps " +
			"no documents that callers send.",
		"Send the text of the document; clients with persisted queries do so by themselves."},

	{DocumentParseFailed, 400,
		"The GraphQL document cannot be parsed.",
		"Mend the document at the location that the error names."},
	{DocumentValidationFailed, 400,
		"The GraphQL document does not fit the schema.",
		"Mend the document at the location that the error names."},
	{DocumentVariablesInvalid, 400,
		"A variable does not fit its declared type.",
		"Mend the variable that the error's path names."},
	{DocumentTooLarge, 413,
		"The GraphQL document is over a limit.",
		"Ask for less in one document."},
	{DocumentLimitExceeded, 400,
		"The GraphQL operation is over one of the server's limits; metadata names the limit, its value and what was " +
			"found.",
		"Ask for less in one operation."},

	{NodeNotFound, 404,
		"There is no object of this id, or the caller may not see it.",
		"Check the id."},

	{FeedCursorExpired, 410,
		"What has changed since the cursor of a subscription is not known any more: it is more than 7 days old, or of " +
			"another database, as after a restore.",
		"Read the list again with its feedCursor, and subscribe with that."},
	{FeedTooSlow, 503,
		"A subscriber does not take the changes as fast as they come, so that too many wait.",
		"Subscribe again after the cursor of the last item."},

	{OrganizationNotFound, 404,
		"There is no organization of this id or slug, or the caller may not see it.",
		"Check the id or slug."},
	{OrganizationForbidden, 403,
		"The caller's role may not list or create organizations.",
		"Use a superadmin's token."},
	{OrganizationSlugTaken, 409,
		"Another organization has this slug.",
		"Choose another slug."},

	{TokenNotFound, 404,
		"There is no token of this id in the organization.",
		"List the tokens and check the id."},
	{TokenForbidden, 403,
		"The caller's role may not read, create or revoke tokens; or the token would have, or has, a role or a scope " +
			"that the caller's has not.",
		"Use an admin's token; nobody makes more than he has."},

	{ProjectNotFound, 404,
		"There is no project of this id, or the caller may not see it.",
		"Check the id."},
	{ProjectForbidden, 403,
		"The caller's role may not change projects, or its token not there: details have the token's scope.",
		"Use a token whose role allows it."},
	{ProjectSlugTaken, 409,
		"Another project of the organization, which is not archived, has this slug.",
		"Choose another slug."},
	{ProjectNotEmpty, 409,
		"The project has environments, archived ones among them.",
		"Delete these first, or archive the project."},
	{ProjectArchived, 409,
		"The project is archived.",
		"Choose another project, or have an admin unarchive it."},

	{EnvironmentNotFound, 404,
		"There is no environment of this id, or the caller may not see it.",
		"Check the id."},
	{EnvironmentForbidden, 403,
		"The caller's role may not change environments, or its token not there: details have the token's scope.",
		"Use a token whose role allows it."},
	{EnvironmentSlugTaken, 409,
		"Another environment of the project, which is not archived, has this slug.",
		"Choose another slug."},
	{EnvironmentNotEmpty, 409,
		"The environment has module instances, archived ones among them.",
		"Delete these first, or archive the environment."},
	{EnvironmentArchived, 409,
		"The environment is archived, or its project.",
		"Choose another environment, or have an admin unarchive it."},

	{ModuleDefinitionNotFound, 404,
		"There is no module definition of this id, or the caller may not see it.",
		"Check the id."},
	{ModuleDefinitionForbidden, 403,
		"The caller's role may not change this module definition.",
		"Use a token whose role allows it; global definitions belong to superadmins."},
	{ModuleDefinitionTypeTaken, 409,
		"Another module definition of the same owner has this type.",
		"Choose another type."},
	{ModuleDefinitionInUse, 409,
		"The module has instances, or inputs of published versions refer to its type: details name some of them.",
		"Keep the type, or create a module definition of the other type."},

	{ModuleVersionNotFound, 404,
		"There is no module version of this id, or the caller may not see it.",
		"Check the id."},
	{ModuleVersionTaken, 409,
		"This version of the module has been published before; published versions never change.",
		"Publish under a new version."},
	{ModuleVersionRuleBroken, 422,
		"The inputs are well-formed, but break a rule that takes several of their fields.",
		"Mend the places that details name and send it again."},

	{InputsRuleBroken, 422,
		"The given inputs are well-formed, but break a rule that takes several of their fields.",
		"Mend the places that details name and send it again."},

	{ModuleInstanceNotFound, 404,
		"There is no module instance of this id, or the caller may not see it.",
		"Check the id."},
	{ModuleInstanceForbidden, 403,
		"The caller's role may not change module instances, or its token not there: details have the token's scope.",
		"Use a token whose role allows it."},
	{ModuleInstanceNothingLive, 409,
		"Nothing of the instance is live, so there is nothing to destroy.",
		"Read the instance again."},
	{ModuleInstanceNameTaken, 409,
		"Another instance of the environment, which is not archived, has this name.",
		"Choose another name."},
	{ModuleInstanceArchived, 409,
		"The module instance is archived, or its environment or project: nothing is deployed to it.",
		"Have an admin unarchive it, or deploy to another."},
	{ModuleInstanceStillLive, 409,
		"Something is live at what is to be archived; details name the module instances.",
		"Take it down first, or acknowledge that it stays."},
	{ModuleInstanceHasDeployments, 409,
		"The module instance had a deployment, whose history is kept.",
		"Archive the instance."},
	{ModuleInstanceNotEmpty, 409,
		"A service of the cloud belongs to the module instance; metadata names it.",
		"Move the service to another instance first."},
	{ModuleInstanceInUse, 409,
		"The live or active deployments of other instances refer to it: details name some of them.",
		"Deploy those without it first, or acknowledge that they depend on it."},

	{DefaultValueDefinitionNotFound, 404,
		"There is no default value definition of this id, or the caller may not see it.",
		"Check the id."},
	{DefaultValueDefinitionForbidden, 403,
		"The caller's role may not change default value definitions, or its token not there: details have the token's " +
			"scope.",
		"Use an admin's token."},
	{DefaultValueDefinitionGivenIDTaken, 409,
		"Another default value definition of the organization has this givenId.",
		"Choose another givenId."},
	{DefaultValueDefinitionInUse, 409,
		"A published module version names the definition.",
		"Publish versions that no longer name it, or keep it."},
	{DefaultValueDefinitionRuleBroken, 422,
		"The schema is well-formed, but breaks a rule that takes several of its fields.",
		"Mend the places that details name and send it again."},

	{DeploymentNotFound, 404,
		"There is no deployment of this id, or the caller may not see it.",
		"Check the id."},
	{DeploymentForbidden, 403,
		"The caller's role may not deploy, promote, roll back, redeploy, approve or cancel, or its token not there: " +
			"details have the token's scope.",
		"Use a token whose role allows it."},
	{DeploymentTargetNotSucceeded, 422,
		"Only a deployment that succeeded can be rolled back to.",
		"Choose a target whose status is SUCCEEDED."},
	{DeploymentInputsInvalid, 422,
		"The values do not fit the inputs of the module version.",
		"Mend the places that details name; validateInputs judges values beforehand."},
	{DeploymentInProgress, 409,
		"Another deployment of the instance is active; details name it.",
		"Wait for it to end, or cancel it; one that runs is in the way until its program has ended."},
	{DeploymentApprovalsMissing, 409,
		"A deployment that waits for approvals lacks some; metadata counts them by rule.",
		"Have others approve it: its requirements say how many and who may."},
	{DeploymentOwnApproval, 403,
		"The caller has made the deployment, or made or was given its token by who did.",
		"Have somebody else approve it."},
	{DeploymentNotPromoted, 422,
		"A rule demands that what is deployed was live elsewhere first, and long enough; metadata says where.",
		"Deploy it there, and promote it from there."},
	{DeploymentRejected, 409,
		"The deployment waited for approvals and was rejected.",
		"Read its error, and make another."},
	{DeploymentSuperseded, 409,
		"The deployment waited for approvals when another of its instance succeeded.",
		"Make another, against what is live now."},
	{DeploymentExpired, 409,
		"The deployment waited for approvals for too long.",
		"Make another."},
	{DeploymentTooManyWaiting, 409,
		"As many deployments of the instance wait for approvals as may.",
		"Reject or cancel some of them."},
	{DeploymentPlanMoved, 409,
		"What was planned is not what would be made now; metadata names what has moved.",
		"Look at a new plan, and send its token."},
	{RuleNotFound, 404,
		"No such rule, or it is not the caller's.",
		"Check the id."},
	{RuleForbidden, 403,
		"The caller's role may not make or end rules, or its token not there: details have the token's scope.",
		"Use a token whose role allows it."},
	{RuleLimit, 409,
		"The organization has as many rules in force as it may.",
		"End some of them."},
	{RuleNameTaken, 409,
		"A rule that is in force in the same place has the name; metadata has its id.",
		"Choose another name, or change or end that rule."},
	{RuleNotOverridable, 403,
		"A rule that is not met holds in any case.",
		"Meet the rule, or have an admin change or end it."},
	{EnvironmentClosed, 409,
		"A rule keeps the environment closed now; metadata has when it opens, where that is known.",
		"Wait, or go past the rule with a reason."},
	{DeploymentResourceTaken, 409,
		"The service that the deployment names belongs to another module instance; metadata names it.",
		"Name the deployment's own service, or have an admin move it with moveService."},
	{DeploymentWrongState, 409,
		"The deployment's status does not allow this transition, it was started outside, or it is too early for force.",
		"Read the deployment again."},
	{DeploymentCanceled, 409,
		"The deployment was canceled, and did not end well; kept as the record's error.",
		"Redeploy it when it is wanted after all."},
	{DeploymentFailed, 422,
		"Carrying the deployment out failed; kept as the record's error.",
		"Read the description, mend the cause and redeploy."},
	{DeploymentInputsUnknown, 422,
		"What was given for the inputs of the deployment is not kept: it was started outside, or created by a Slipway " +
			"that did not keep it.",
		"Send the inputs once."},
	{DeploymentLiveChanged, 409,
		"The deployment that the caller took for the instance's live one is not live any more.",
		"Read the instance again and decide anew."},
	{DeploymentLeaseLost, 409,
		"The lease that the runner names has run out, the deployment has ended, or the time that a canceled program has " +
			"to end is over.",
		"Stop carrying the deployment out; metadata has its status."},
	{DeploymentLeaseExpired, 409,
		"The runner did not renew its lease in time, so that nobody knows how far it got; kept as the record's error.",
		"See what was changed, then redeploy."},
	{DeploymentNotReplayable, 422,
		"The deployment was to destroy what was live, and no destroy is replayed.",
		"Roll back to a deployment that succeeded, which brings the instance back, or create a new one."},
	{DeploymentRolledBack, 422,
		"The program of the deployment ended well, but the cloud had rolled it back, stopped it or let it fail; kept as " +
			"the record's error. Details have what the cloud said.",
		"Mend the cause and deploy again; what was live before still is."},

	{ReleaseNotFound, 404,
		"There is no release of this id, or the caller may not see it.",
		"Check the id."},
	{ReleaseUnavailable, 422,
		"The release of the source deployment is not stored any more, or the deployment was started outside and has none.",
		"Create a new deployment."},
	{ReleaseDigestMismatch, 422,
		"The stored release is not the one that was deployed: its digest differs.",
		"Do not trust it; create a new deployment and tell the operator."},
	{ReleaseQuarantined, 422,
		"The release is marked as bad; details say by whom and why.",
		"Deploy another release, or have an admin lift the quarantine."},
	{ReleaseNotQuarantined, 409,
		"The release is in no quarantine that could be lifted.",
		"Read the release again."},
	{ReleaseForbidden, 403,
		"The caller's role may not quarantine releases.",
		"Use an admin's token."},

	{ServiceNotFound, 404,
		"No deployment of the organization has named this service of the cloud.",
		"Compare the ARN with the data.serviceArn of a deployment."},

	{AuditEventForbidden, 403,
		"The caller's role may not read audit events.",
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
