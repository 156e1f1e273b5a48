package valuesource_test

import (
	"fmt"

	"slipway/internal/service/inputvalidation/valuesource"
)

// A schema that names a source is checked against the table of sources alone; nothing is looked up.
func ExampleCheck() {
	fmt.Println(valuesource.Check("module_instances", map[string]string{"type": "database"}))
	for _, v := range valuesource.Check("default_value_definition", map[string]string{"region": "eu"}) {
		fmt.Println(v.Pointer, v.Rule, v.Message)
	}
	// Output:
	// []
	// /params/givenId required is required by the source default_value_definition
	// /params/region unknown_param is not a parameter of the source default_value_definition, which takes givenId
}
