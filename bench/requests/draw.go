package requests

import (
	"net/http"

	"slipway/bench/data"
	"slipway/internal/base/id"
)

// post returns a call of GraphQL.
func post(token, variables string) Call {
	return Call{Token: token, Method: http.MethodPost, Path: "/graphql", Variables: variables, Status: http.StatusOK}
}

// tokens are the texts of the first tokens of the organizations.
var tokens = func() (all [data.Organizations]string) {
	for o := range all {
		all[o] = data.Token(o, 0).Reveal()
	}
	return all
}()

// deployments draws deployments of the share's organizations; over REST their path begins with a text.
func deployments(path string) func(data.World, Share) func() (Call, bool) {
	return func(w data.World, s Share) func() (Call, bool) {
		random := s.random()
		return func() (Call, bool) {
			for {
				d := w.Deployment(random.IntN(w.Deployments))
				if owner := data.OrganizationOf(d.Environment); s.has(owner) {
					return deploymentCall(d, tokens[owner], path), true
				}
			}
		}
	}
}

func deploymentCall(d data.Deployment, token, path string) Call {
	c := post(token, `{"id":"`+d.ID()+`"}`)
	if path != "" {
		c.Method, c.Path, c.Variables = http.MethodGet, path+d.ID(), ""
	}
	c.Key, c.Mark, c.Marks = `{"id":"`+d.ID()+`"`, d.ID(), 1
	c.subject = d.Number
	return c
}

// environments draws environments of the share's organizations, but not the large one.
func environments(w data.World, s Share) func() (Call, bool) {
	random := s.random()
	return func() (Call, bool) {
		for {
			e := 1 + random.IntN(data.Environments-1)
			if owner := data.OrganizationOf(e); s.has(owner) && w.Of(e) > 0 {
				return pageCall(w, e, tokens[owner]), true
			}
		}
	}
}

// largeEnvironment always returns the large environment, of which each connection has a token of its own.
func largeEnvironment(w data.World, s Share) func() (Call, bool) {
	c := pageCall(w, 0, data.Token(0, s.Connection%data.TokensOfLarge).Reveal())
	return func() (Call, bool) { return c, true }
}

const pageSize = 50

func pageCall(w data.World, environment int, token string) Call {
	c := post(token, `{"environmentId":"`+data.ID(id.Environment, environment)+`"}`)
	c.Key = `"id":"` + w.At(environment, w.Of(environment)-1).ID() + `"`
	c.Mark, c.Marks = `"moduleInstance":{`, min(pageSize, w.Of(environment))
	c.subject = environment
	return c
}

// organizations draws the share's organizations; over REST their list has a path.
func organizations(path string) func(data.World, Share) func() (Call, bool) {
	return func(_ data.World, s Share) func() (Call, bool) {
		random := s.random()
		return func() (Call, bool) {
			for {
				if o := random.IntN(data.Organizations); s.has(o) {
					return definitionsCall(o, path), true
				}
			}
		}
	}
}

func definitionsCall(organization int, path string) Call {
	c := post(tokens[organization], "{}")
	if path != "" {
		c.Method, c.Path, c.Variables = http.MethodGet, path, ""
	}
	c.Key = `"id":"` + definitions[organization][0].ID() + `"`
	c.Mark, c.Marks = `"latestVersionId":"`, pageSize
	c.subject = organization
	return c
}

// rollbacks draws the first deployment of each instance of the share's organizations, once: an instance has one
// deployment at a time that has not ended. Over REST the path begins with a text.
func rollbacks(path string) func(data.World, Share) func() (Call, bool) {
	return func(w data.World, s Share) func() (Call, bool) {
		next, turn := 0, 0
		// Several connections with one organization take turns.
		sharers := (s.Of - s.Connection%data.Organizations + data.Organizations - 1) / data.Organizations
		return func() (Call, bool) {
			for next < data.Instances {
				i := data.InstanceOf(next)
				next++
				owner := data.OrganizationOf(i.Environment)
				if !s.has(owner) {
					continue
				}
				turn++
				if target, ok := w.First(i); ok && turn%sharers == s.Connection/data.Organizations {
					return rollbackCall(target, tokens[owner], path), true
				}
			}

			return Call{}, false
		}
	}
}

func rollbackCall(target data.Deployment, token, path string) Call {
	c := post(token, `{"id":"`+target.ID()+`"}`)
	c.Key = `"rollbackTo":{"id":"` + target.ID() + `"}`
	c.Mark, c.Marks = `"description":"Rollback to `+target.ID(), 1
	if path != "" {
		c.Path, c.Variables, c.Status = path+target.ID()+"/rollback", "", http.StatusCreated
		c.Key = `"rollbackToDeploymentId":"` + target.ID() + `"`
	}
	c.subject = target.Number
	return c
}

// screens draws instances of the share's organizations, but none of the large environment, with the places around them.
func screens(w data.World, s Share) func() (Call, bool) {
	random := s.random()
	return func() (Call, bool) {
		for {
			i := data.InstanceOf(random.IntN(data.Instances))
			owner := data.OrganizationOf(i.Environment)
			if i.Environment == 0 || !s.has(owner) {
				continue
			}
			c := post(tokens[owner], `{"projectId":"`+data.ID(id.Project, data.ProjectOf(i.Environment))+`","environmentId":"`+
				data.ID(id.Environment, i.Environment)+`","instanceId":"`+i.ID()+`"}`)
			c.Key = `"moduleInstance":{"id":"` + i.ID() + `"`
			c.Mark, c.Marks = `"moduleDefinition":{`, screenSize
			c.subject = i.Number()
			return c, true
		}
	}
}
