package main

import (
	"strings"
	"testing"
)

func TestParseOptions(t *testing.T) {
	t.Setenv("NODE_NAME", "worker")
	o, err := parseOptions([]string{"-listen", ":1"})
	want := options{"worker", "", "/etc/fake-gpu/config.json", "/var/lib/kubelet/device-plugins/", "/var/lib/kubelet/pod-resources/kubelet.sock", "/run/fake-gpu", ":1"}
	if err != nil || o != want {
		t.Errorf("got %+v, %v", o, err)
	}
	if _, err := parseOptions([]string{"word"}); err == nil || !strings.Contains(err.Error(), `"word"`) {
		t.Errorf("got %v", err)
	}
	t.Setenv("NODE_NAME", "")
	if _, err := parseOptions(nil); err == nil || !strings.Contains(err.Error(), "NODE_NAME") {
		t.Errorf("got %v", err)
	}
}
