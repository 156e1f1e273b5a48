package httpx

// OrganizationHeader is the header that names the organization that a request is for, by its id or slug.
const OrganizationHeader = "Slipway-Organization"
