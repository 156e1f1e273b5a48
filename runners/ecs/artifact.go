package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/sdkjson"
)

// artifact is the task definition that a release ships. It may be empty: then the inputs say what to run.
type artifact struct {
	ARN        string          `json:"arn"`
	Revision   int32           `json:"revision"`
	Definition json.RawMessage `json:"definition"`
	// registers is the task definition to register, nil unless Definition has one.
	registers *ecs.RegisterTaskDefinitionInput
}

// decidesTaskDefinition reports whether the artifact says what to run.
func (a artifact) decidesTaskDefinition() bool { return a.ARN != "" || a.hasDefinition() }

func (a artifact) hasDefinition() bool {
	return len(a.Definition) > 0 && string(a.Definition) != "null"
}

// shown are members of a task definition that AWS shows and does not take.
var shown = []string{
	"taskDefinitionArn", "revision", "status", "requiresAttributes", "compatibilities", "registeredAt", "registeredBy",
	"deregisteredAt", "deleteRequestedAt",
}

// atDefinition is where the artifact has its task definition.
const atDefinition = "/release/artifact/definition"

// readDefinition reads the task definition to register. The error says everything that is wrong with it.
func (a *artifact) readDefinition() error {
	if !a.hasDefinition() {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(a.Definition))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return fmt.Errorf("%s must be JSON: %w", atDefinition, err)
	}

	members, isObject := value.(map[string]any)
	if isObject {
		for _, name := range shown {
			delete(members, name)
		}
	}

	wrong := sdkjson.Mismatches(atDefinition, value, reflect.TypeFor[ecs.RegisterTaskDefinitionInput]())
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	text, err := json.Marshal(members)
	if err != nil {
		return err
	}

	a.registers = &ecs.RegisterTaskDefinitionInput{}
	if err := json.Unmarshal(text, a.registers); err != nil {
		return fmt.Errorf("%s must be as register-task-definition takes it: %w", atDefinition, err)
	}
	return a.checkContainers()
}

// checkContainers returns what is missing in the containers of the task definition.
func (a *artifact) checkContainers() error {
	c := &checker{}
	containers := a.registers.ContainerDefinitions
	c.need(len(containers) > 0, atDefinition+"/containerDefinitions", "must have at least one container")
	for i, container := range containers {
		at := fmt.Sprintf("%s/containerDefinitions/%d", atDefinition, i)
		c.need(text(container.Name) != "", at+"/name", "must be there")
		c.need(text(container.Image) != "", at+"/image", "must be there")
		first := slices.IndexFunc(
			containers, func(other types.ContainerDefinition) bool { return text(other.Name) == text(container.Name) },
		)
		c.need(first == i, at+"/name", "must be another than that of the container %d, found %q", first, text(container.Name))
	}
	return errors.Join(c.wrong...)
}
