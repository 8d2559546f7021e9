package node

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"local/fake-gpu/internal/config"
	"local/fake-gpu/internal/gpu"
)

// FakeLabel tells KAI's operator that reservation pods on this node cannot ask NVML.
const FakeLabel = "run.ai/fake.gpu"

// labels returns the labels of a node with GPUs as GPU feature discovery and the GPU Operator set them,
// and none at all for a node without GPUs. With MIG off, GPU feature discovery does not set nvidia.com/mig.strategy.
func labels(node gpu.Node) map[string]string {
	if len(node.GPUs) == 0 {
		return map[string]string{}
	}
	version := strings.SplitN(gpu.DriverVersion, ".", 3)
	return map[string]string{
		FakeLabel:                                 "true",
		"nvidia.com/gpu.present":                  "true",
		"nvidia.com/gpu.product":                  node.Product,
		"nvidia.com/gpu.memory":                   strconv.Itoa(node.MemoryMiB),
		"nvidia.com/gpu.count":                    strconv.Itoa(len(node.GPUs)),
		"nvidia.com/gpu.replicas":                 "1",
		"nvidia.com/gpu.sharing-strategy":         "none",
		"nvidia.com/mig.capable":                  "false",
		"nvidia.com/vgpu.present":                 strconv.FormatBool(node.Mode == config.VGPU),
		"nvidia.com/cuda.driver-version.full":     gpu.DriverVersion,
		"nvidia.com/cuda.driver-version.major":    version[0],
		"nvidia.com/cuda.driver-version.minor":    version[1],
		"nvidia.com/cuda.driver-version.revision": version[2],
	}
}

// owned are the keys that this agent sets, and therefore removes when the node has no GPUs.
var owned = slices.Sorted(maps.Keys(labels(gpu.Node{GPUs: make([]gpu.GPU, 1)})))

// changes returns what must be patched to turn the present labels into those of the node; nil values are removals.
func changes(present map[string]string, node gpu.Node) map[string]*string {
	wanted := labels(node)
	patch := map[string]*string{}
	for _, key := range owned {
		now, exists := present[key]
		want, keep := wanted[key]
		switch {
		case keep && (!exists || now != want):
			patch[key] = &want
		case !keep && exists:
			patch[key] = nil
		}
	}
	return patch
}
