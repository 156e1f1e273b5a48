package demo

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed demo.json modules/*.json examples/*.graphql task-definition.json.tmpl
var files embed.FS

// content is what demo.json says of the organization; its modules have a file each.
type content struct {
	Organization struct{ Name, Slug string }
	Shown        shown
	UnderWay     []turn
	RuleFiles    []ruleFile `json:"rules"`
	Promotions   []promotionFile
	Projects     []projectFile
	Definitions  []definitionFile
	Changes      []string
	Examples     []exampleFile
}

// shown names what the result shows: services by their place, one whose live deployment can be rolled back, one whose
// last deployment failed, one whose deployment goes on for as long as the demo runs, one that an example lets fail, and
// one at which a deployment waits for approvals; and the definition of a number by its given id.
type shown struct{ Live, Failed, Followed, Broken, Awaiting, Definition string }

// turn is a move of the service at a place, which is project/environment/name.
type turn struct{ Place, Move string }

// readContent reads demo.json.
func readContent() (c content, err error) {
	err = read("demo.json", &c)
	return c, err
}

// read reads a file, which must say nothing that is unknown.
func read(name string, to any) error {
	text, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		return fmt.Errorf("demo: %s: %w", name, err)
	}
	return nil
}
