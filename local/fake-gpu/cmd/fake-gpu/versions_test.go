package main

import (
	"os"
	"regexp"
	"testing"
)

// Equal versions let this module share the compile cache of the Kubernetes module.
func TestVersionsEqualThoseOfKubernetes(t *testing.T) {
	ours, theirs := required(t, "../../go.mod"), required(t, "../../../tools/kubernetes/go.mod")
	if len(ours) == 0 {
		t.Fatal("no requirements found")
	}
	for module, version := range ours {
		if theirs[module] != version {
			t.Errorf("%s: found %s, expected %q as in local/tools/kubernetes/go.mod; change go.mod here and run go mod tidy", module, version, theirs[module])
		}
	}
}

func required(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+) (v\S+)(?: // indirect)?$`).FindAllStringSubmatch(string(text), -1) {
		versions[match[1]] = match[2]
	}
	return versions
}
