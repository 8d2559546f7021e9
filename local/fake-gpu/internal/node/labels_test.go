package node

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"local/fake-gpu/internal/config"
	"local/fake-gpu/internal/gpu"
)

func nodeWith(mode config.Mode, count int) gpu.Node {
	return gpu.NewNode("n", config.Config{Mode: mode, Default: config.GPUs{Count: count, Product: "NVIDIA-A100-SXM4-80GB", MemoryMiB: 81920}})
}

func TestLabels(t *testing.T) {
	for mode, vgpu := range map[config.Mode]string{config.Passthrough: "false", config.VGPU: "true"} {
		got := labels(nodeWith(mode, 4))
		for key, want := range map[string]string{
			"run.ai/fake.gpu": "true", "nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": "4",
			"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.memory": "81920", "nvidia.com/vgpu.present": vgpu,
		} {
			if got[key] != want {
				t.Errorf("%s %s: got %q, want %q", mode, key, got[key], want)
			}
		}
		for key, value := range got {
			if problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(problems) > 0 {
				t.Errorf("%s=%s: %v", key, value, problems)
			}
		}
	}
}

func TestChanges(t *testing.T) {
	four, none := nodeWith(config.Passthrough, 4), nodeWith(config.Passthrough, 0)
	current := labels(four)
	current["nvidia.com/gpu.deploy.device-plugin"] = "true" // belongs to somebody else
	if patch := changes(current, four); len(patch) != 0 {
		t.Errorf("nothing to change, but %v", patch)
	}
	if patch := changes(nil, four); len(patch) != len(owned) {
		t.Errorf("a bare node gets %d of %d labels", len(patch), len(owned))
	}
	patch := changes(current, nodeWith(config.Passthrough, 2))
	if len(patch) != 1 || *patch["nvidia.com/gpu.count"] != "2" {
		t.Errorf("a new count changes %v", patch)
	}
	patch = changes(current, none)
	if len(patch) != len(owned) {
		t.Errorf("without GPUs %d of %d labels go", len(patch), len(owned))
	}
	for key, value := range patch {
		if value != nil || key == "nvidia.com/gpu.deploy.device-plugin" {
			t.Errorf("%s becomes %v", key, value)
		}
	}
	if patch := changes(nil, none); len(patch) != 0 {
		t.Errorf("a bare node without GPUs changes %v", patch)
	}
}
