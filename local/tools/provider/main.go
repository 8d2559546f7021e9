// Command pulumi-resource-kubernetes serves the Pulumi Kubernetes provider.
//
// The released module leaves out the two files that its own main embeds, so
// this main reads the schema and the mapping that the module does contain.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// version is stamped by the build: the released version of the module's commit.
var version = "4.25.0"

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var mapping []byte

func main() {
	provider.Serve("kubernetes", version, schema, mapping)
}
