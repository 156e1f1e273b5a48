package requests

import (
	"encoding/json"
	"fmt"
	"slices"

	"slipway/bench/data"
	"slipway/internal/id"
)

// Oldest are the cursors behind which the last page of each environment begins, by environment.
type Oldest map[int]string

// Growth returns the kinds whose cost may grow with the number of deployments: a deployment, and the pages of environments
// from the beginning and at the end of the list, with the count of all and without. Those at the end need the cursors.
func Growth(cursors Oldest) []*Kind {
	const plain, counted = "C.graphql", "growth/count.graphql"
	return withDocuments(
		&Kind{Name: "A", Title: "a deployment, 12 fields", file: "A.graphql", draw: deployments(""), want: wantDeployment},
		&Kind{Name: "C", Title: "the first 50 deployments of an environment", file: plain, draw: environments, want: wantPage},
		&Kind{Name: "C deep", Title: "the last 50", file: plain, draw: cursors.after(environments), want: wantLastPage(false)},
		&Kind{Name: "C count", Title: "the first 50, and how many there are", file: counted, draw: environments, want: wantCountedPage},
		&Kind{Name: "C deep count", Title: "the last 50, and how many there are", file: counted, draw: cursors.after(environments), want: wantLastPage(true)},
		&Kind{Name: "CL", Title: "the first 50 of the largest environment", file: plain, draw: largeEnvironment, want: wantPage},
		&Kind{Name: "CL deep", Title: "the last 50", file: plain, draw: cursors.after(largeEnvironment), want: wantLastPage(false)},
		&Kind{Name: "CL count", Title: "the first 50, and how many there are", file: counted, draw: largeEnvironment, want: wantCountedPage},
		&Kind{Name: "CL deep count", Title: "the last 50, and how many there are", file: counted, draw: cursors.after(largeEnvironment), want: wantLastPage(true)},
	)
}

// Paged returns the environments of a world that have more than one page.
func Paged(w data.World) (all []int) {
	for e := range data.Environments {
		if w.Of(e) > pageSize {
			all = append(all, e)
		}
	}
	return all
}

// HasPages reports whether a kind has something to ask for.
func (o Oldest) HasPages(k *Kind) bool {
	switch k.Name {
	case "C deep", "C deep count":
		return len(o) > 1
	case "CL deep", "CL deep count":
		return o[0] != ""
	}
	return true
}

// FindOldest returns the call whose answer has the cursor behind which the last page of an environment begins.
func FindOldest(environment int) (*Kind, Call) {
	k := withDocuments(&Kind{Name: "Oldest", file: "growth/oldest.graphql"})[0]
	return k, post(tokens[data.OrganizationOf(environment)], `{"environmentId":"`+data.ID(id.Environment, environment)+`"}`)
}

// ReadOldest reads the cursor from that answer.
func ReadOldest(body []byte) (string, error) {
	var answer struct {
		Data struct {
			Deployments struct{ Edges []struct{ Cursor string } }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", err
	}
	edges := answer.Data.Deployments.Edges
	if len(edges) <= pageSize {
		return "", fmt.Errorf("there are %d edges, want %d: %.300s", len(edges), pageSize+1, body)
	}
	return edges[0].Cursor, nil
}

// after returns the calls of another draw with the cursors, as far as there are some.
func (o Oldest) after(draw func(data.World, Share) func() (Call, bool)) func(data.World, Share) func() (Call, bool) {
	return func(w data.World, s Share) func() (Call, bool) {
		next := draw(w, s)
		return func() (Call, bool) {
			for {
				c, more := next()
				if !more {
					return c, false
				}
				cursor, ok := o[c.subject]
				if !ok {
					continue
				}
				c.Variables = c.Variables[:len(c.Variables)-1] + `,"after":"` + cursor + `"}`
				c.Key, c.Marks = `"id":"`+w.At(c.subject, 0).ID()+`"`, pageSize
				return c, true
			}
		}
	}
}

func wantCountedPage(w data.World, environment int) any {
	return counted(w, environment, newest(w, environment, pageSize), w.Of(environment) > pageSize)
}

func wantLastPage(count bool) func(data.World, int) any {
	return func(w data.World, environment int) any {
		var last []data.Deployment
		for place := range pageSize {
			last = append(last, w.At(environment, place))
		}
		slices.Reverse(last)
		if count {
			return counted(w, environment, last, false)
		}
		return object{"deployments": connection(last, false)}
	}
}

func counted(w data.World, environment int, deployments []data.Deployment, hasNextPage bool) any {
	c := connection(deployments, hasNextPage)
	c["totalCount"] = float64(w.Of(environment))
	return object{"deployments": c}
}
