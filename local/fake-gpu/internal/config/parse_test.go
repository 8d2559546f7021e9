package config

import (
	"strings"
	"testing"
)

const sound = `{"mode":"passthrough","default":{"count":4,"product":"NVIDIA-A100-SXM4-80GB","memoryMiB":81920},
	"nodes":{"empty":{"count":0},"other":{"product":"Tesla-T4","memoryMiB":15360}}}`

func TestForNode(t *testing.T) {
	cfg, err := Parse([]byte(sound))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Mode != Passthrough {
		t.Errorf("mode: got %q", cfg.Mode)
	}
	for name, want := range map[string]GPUs{
		"any":   {4, "NVIDIA-A100-SXM4-80GB", 81920},
		"empty": {0, "NVIDIA-A100-SXM4-80GB", 81920},
		"other": {4, "Tesla-T4", 15360},
	} {
		if got := cfg.ForNode(name); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good := `"default":{"count":4,"product":"P","memoryMiB":81920}`
	for name, test := range map[string]struct{ text, key, found, expected string }{
		"no JSON":           {`{"mode"`, `(whole file)`, `{"mode"`, "a JSON object"},
		"empty":             {``, `(whole file)`, "nothing", "a JSON object"},
		"null":              {`null`, `(whole file)`, "null", "a JSON object"},
		"unknown key":       {`{"mode":"vgpu","gpus":3,` + good + `}`, "gpus", "unknown key", "mode, default, nodes"},
		"unknown inner key": {`{"mode":"vgpu","default":{"memory":1}}`, "default.memory", "unknown key", "count, product, memoryMiB"},
		"unknown node key":  {`{"mode":"vgpu",` + good + `,"nodes":{"n1":{"cuont":1}}}`, "nodes.n1.cuont", "unknown key", "count, product, memoryMiB"},
		"wrong mode":        {`{"mode":"mig",` + good + `}`, `"mode"`, `"mig"`, `"passthrough" or "vgpu"`},
		"no mode":           {`{` + good + `}`, `"mode"`, "nothing", `"passthrough" or "vgpu"`},
		"no default":        {`{"mode":"vgpu"}`, `"default"`, "nothing", "an object"},
		"no count":          {`{"mode":"vgpu","default":{"product":"P","memoryMiB":1000}}`, "default.count", "nothing", "a whole number from 0 to 64"},
		"no product":        {`{"mode":"vgpu","default":{"count":1,"memoryMiB":1000}}`, "default.product", "nothing", "a name"},
		"no memory":         {`{"mode":"vgpu","default":{"count":1,"product":"P"}}`, "default.memoryMiB", "nothing", "MiB from 100"},
		"negative count":    {`{"mode":"vgpu",` + good + `,"nodes":{"n1":{"count":-1}}}`, "nodes.n1.count", "-1", "a whole number from 0 to 64"},
		"count with point":  {`{"mode":"vgpu","default":{"count":1.5,"product":"P","memoryMiB":1000}}`, "default.count", "1.5", "a whole number"},
		"count as text":     {`{"mode":"vgpu","default":{"count":"4","product":"P","memoryMiB":1000}}`, "default.count", `"4"`, "a whole number"},
		"count null":        {`{"mode":"vgpu",` + good + `,"nodes":{"n1":{"count":null}}}`, "nodes.n1.count", "null", "a whole number"},
		"too many":          {`{"mode":"vgpu","default":{"count":65,"product":"P","memoryMiB":1000}}`, "default.count", "65", "to 64"},
		"little memory":     {`{"mode":"vgpu","default":{"count":1,"product":"P","memoryMiB":80}}`, "default.memoryMiB", "80", "from 100"},
		"blank in product":  {`{"mode":"vgpu","default":{"count":1,"product":"NVIDIA A100","memoryMiB":1000}}`, "default.product", "NVIDIA A100", "label value"},
		"empty product":     {`{"mode":"vgpu","default":{"count":1,"product":"","memoryMiB":1000}}`, "default.product", `""`, "label value"},
		"nodes is a list":   {`{"mode":"vgpu",` + good + `,"nodes":[]}`, `"nodes"`, "[]", "a JSON object"},
		"node is a number":  {`{"mode":"vgpu",` + good + `,"nodes":{"n1":3}}`, "nodes.n1", "3", "a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(test.text))
			if err == nil {
				t.Fatal("accepted")
			}
			for _, part := range []string{test.key, test.found, test.expected, "ConfigMap fake-gpu"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not name %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}
