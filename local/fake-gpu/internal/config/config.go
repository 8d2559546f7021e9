// Package config reads the description of the fake GPUs.
package config

// Path is where the ConfigMap `fake-gpu` is mounted.
const Path = "/etc/fake-gpu/config.json"

// Mode is the way in which the GPUs are said to be attached to the node.
type Mode string

const (
	// Passthrough nodes own whole GPUs and see all of their sensors.
	Passthrough Mode = "passthrough"
	// VGPU nodes are virtual machines with vGPU profiles, which see only part of them.
	VGPU Mode = "vgpu"
)

// GPUs describes the GPUs of one node, all of the same product.
type GPUs struct {
	Count     int    // number of GPUs, 0 for none
	Product   string // as in the label nvidia.com/gpu.product, such as "NVIDIA-A100-SXM4-80GB"
	MemoryMiB int    // memory of each GPU in MiB
}

// Config describes the GPUs of all nodes.
type Config struct {
	Mode    Mode
	Default GPUs
	Nodes   map[string]Override
}

// Override holds what differs from the default on one node; nil means "as the default".
type Override struct {
	Count     *int
	Product   *string
	MemoryMiB *int
}

// ForNode returns the GPUs of the named node.
func (c Config) ForNode(name string) GPUs {
	gpus := c.Default
	over := c.Nodes[name]
	if over.Count != nil {
		gpus.Count = *over.Count
	}
	if over.Product != nil {
		gpus.Product = *over.Product
	}
	if over.MemoryMiB != nil {
		gpus.MemoryMiB = *over.MemoryMiB
	}
	return gpus
}
