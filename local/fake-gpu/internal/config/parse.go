package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	maxCount     = 64
	minMemoryMiB = 100 // KAI rounds a GPU's memory down to hundreds of MiB
	maxMemoryMiB = 1 << 20
)

// Parse reads the JSON text of config.json. It accepts only known keys and sound values;
// the error names the first key that is wrong.
func Parse(text []byte) (Config, error) {
	top, err := object("(whole file)", text)
	if err != nil {
		return Config{}, err
	}
	if err := onlyKeys("", top, "mode", "default", "nodes"); err != nil {
		return Config{}, err
	}
	cfg := Config{Nodes: map[string]Override{}}
	if cfg.Mode, err = mode(top["mode"]); err != nil {
		return Config{}, err
	}
	if cfg.Default, err = defaults(top["default"]); err != nil {
		return Config{}, err
	}
	if top["nodes"] == nil {
		return cfg, nil
	}
	nodes, err := object("nodes", top["nodes"])
	if err != nil {
		return Config{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if cfg.Nodes[name], err = override("nodes."+name, nodes[name]); err != nil {
			return Config{}, err
		}
	}
	return cfg, nil
}

func mode(raw json.RawMessage) (Mode, error) {
	expected := fmt.Sprintf("%q or %q", Passthrough, VGPU)
	var value Mode
	if raw == nil || json.Unmarshal(raw, &value) != nil || (value != Passthrough && value != VGPU) {
		return "", wrong("mode", raw, expected)
	}
	return value, nil
}

func defaults(raw json.RawMessage) (GPUs, error) {
	if raw == nil {
		return GPUs{}, wrong("default", raw, "an object with count, product and memoryMiB")
	}
	all, err := override("default", raw)
	if err != nil {
		return GPUs{}, err
	}
	switch {
	case all.Count == nil:
		return GPUs{}, wrong("default.count", nil, countExpected)
	case all.Product == nil:
		return GPUs{}, wrong("default.product", nil, productExpected)
	case all.MemoryMiB == nil:
		return GPUs{}, wrong("default.memoryMiB", nil, memoryExpected)
	}
	return GPUs{Count: *all.Count, Product: *all.Product, MemoryMiB: *all.MemoryMiB}, nil
}

var (
	countExpected   = fmt.Sprintf("a whole number from 0 to %d", maxCount)
	memoryExpected  = fmt.Sprintf("a whole number of MiB from %d to %d", minMemoryMiB, maxMemoryMiB)
	productExpected = `a name that is a valid label value, such as "NVIDIA-A100-SXM4-80GB"`
)

func override(path string, raw json.RawMessage) (Override, error) {
	keys, err := object(path, raw)
	if err != nil {
		return Override{}, err
	}
	if err := onlyKeys(path+".", keys, "count", "product", "memoryMiB"); err != nil {
		return Override{}, err
	}
	var over Override
	if over.Count, err = number(path+".count", keys["count"], 0, maxCount, countExpected); err != nil {
		return Override{}, err
	}
	if over.MemoryMiB, err = number(path+".memoryMiB", keys["memoryMiB"], minMemoryMiB, maxMemoryMiB, memoryExpected); err != nil {
		return Override{}, err
	}
	if over.Product, err = product(path+".product", keys["product"]); err != nil {
		return Override{}, err
	}
	return over, nil
}

func number(path string, raw json.RawMessage, low, high int, expected string) (*int, error) {
	if raw == nil {
		return nil, nil
	}
	var value *int
	if json.Unmarshal(raw, &value) != nil || value == nil || *value < low || *value > high {
		return nil, wrong(path, raw, expected)
	}
	return value, nil
}

func product(path string, raw json.RawMessage) (*string, error) {
	if raw == nil {
		return nil, nil
	}
	var value *string
	if json.Unmarshal(raw, &value) != nil || value == nil || *value == "" || len(validation.IsValidLabelValue(*value)) > 0 {
		return nil, wrong(path, raw, productExpected)
	}
	return value, nil
}

func object(path string, raw json.RawMessage) (map[string]json.RawMessage, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil || keys == nil {
		return nil, wrong(path, raw, "a JSON object")
	}
	return keys, nil
}

func onlyKeys(prefix string, keys map[string]json.RawMessage, allowed ...string) error {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(allowed, key) {
			return fmt.Errorf("fake-gpu config: unknown key %q: expected one of %s; %s",
				prefix+key, strings.Join(allowed, ", "), remedy)
		}
	}
	return nil
}

const remedy = "correct config.json in the ConfigMap fake-gpu"

func wrong(path string, raw json.RawMessage, expected string) error {
	found := "nothing"
	if text := bytes.TrimSpace(raw); len(text) > 0 {
		found = string(text[:min(len(text), 80)])
	}
	return fmt.Errorf("fake-gpu config: key %q: found %s, expected %s; %s", path, found, expected, remedy)
}
