package ociruntime

import (
	"strings"
	"testing"
)

func TestParseCall(t *testing.T) {
	for line, want := range map[string]call{
		"":                                {"", ".", "", "text"},
		"--version":                       {"", ".", "", "text"},
		"create id":                       {"create", ".", "", "text"},
		"create --bundle /b id":           {"create", "/b", "", "text"},
		"create --bundle=/b id":           {"create", "/b", "", "text"},
		"create -bundle /b id":            {"create", "/b", "", "text"},
		"create -b /b id":                 {"create", "/b", "", "text"},
		"create -b=/b id":                 {"create", "/b", "", "text"},
		"create --b /b id":                {"create", "/b", "", "text"},
		"create id --bundle /b":           {"create", "/b", "", "text"},
		"create -b /a --bundle /b id":     {"create", "/b", "", "text"},
		"create --pid-file -b id":         {"create", ".", "", "text"},
		"create --no-pivot -b /b id":      {"create", "/b", "", "text"},
		"create -- -b /b":                 {"create", ".", "", "text"},
		"start --bundle /b id":            {"start", ".", "", "text"},
		"--root create start id":          {"start", ".", "", "text"},
		"--debug --root=/r delete id":     {"delete", ".", "", "text"},
		"--log /l --log-format json kill": {"kill", ".", "/l", "json"},
		"--root /run/containerd/runc/k8s.io --log /l.json --log-format json --systemd-cgroup create --bundle /b --pid-file /b/init.pid --console-socket /s --preserve-fds 1 --no-new-keyring id": {"create", "/b", "/l.json", "json"},
	} {
		if got := parseCall(strings.Fields(line)); got != want {
			t.Errorf("%q: got %+v, want %+v", line, got, want)
		}
	}
}
