package ociruntime

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
)

const visibleDevices = "NVIDIA_VISIBLE_DEVICES"

// Mount is a file or directory of the node that GPU containers get.
type Mount struct {
	Source      string
	Destination string
	Remedy      string // what to do when the source does not exist
}

// prepare adds the mounts, read-only, to the bundle's config.json when the container is to see GPUs.
// Runc makes missing mount points before a root file system becomes read-only, so both kinds work.
func prepare(bundle string, mounts []Mount) error {
	path := filepath.Join(bundle, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// Only the parts in question are decoded, so that fields unknown to this version of the specification survive.
	var parts map[string]json.RawMessage
	var spec specs.Spec
	if err := errors.Join(json.Unmarshal(text, &parts), json.Unmarshal(text, &spec)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !wantsGPUs(spec) {
		return nil
	}
	var list []json.RawMessage
	if raw := parts["mounts"]; raw != nil {
		if err := json.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("%s: mounts: %w", path, err)
		}
	}
	for _, m := range mounts {
		if slices.ContainsFunc(spec.Mounts, func(s specs.Mount) bool { return filepath.Clean(s.Destination) == m.Destination }) {
			continue // the container brings its own
		}
		if _, err := os.Stat(m.Source); err != nil {
			return fmt.Errorf("a container with %s cannot get %s: %w; %s", visibleDevices, m.Destination, err, m.Remedy)
		}
		raw, err := json.Marshal(specs.Mount{
			Type: "bind", Source: m.Source, Destination: m.Destination,
			Options: []string{"rbind", "rprivate", "ro", "nosuid", "nodev"},
		})
		if err != nil {
			return err
		}
		list = append(list, raw)
	}
	if parts["mounts"], err = json.Marshal(list); err != nil {
		return err
	}
	if text, err = json.Marshal(parts); err != nil {
		return err
	}
	return replace(path, text)
}

// wantsGPUs looks at the last setting of the variable, which is the one the process sees.
func wantsGPUs(spec specs.Spec) bool {
	if spec.Process == nil {
		return false
	}
	value := ""
	for _, entry := range spec.Process.Env {
		if after, found := strings.CutPrefix(entry, visibleDevices+"="); found {
			value = strings.TrimSpace(after)
		}
	}
	return value != "" && value != "void" && value != "none"
}

// replace writes a file in one step and keeps its mode.
func replace(path string, text []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	temporary := path + ".fake-gpu"
	defer os.Remove(temporary) // no effect after the rename
	if err := os.WriteFile(temporary, text, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
