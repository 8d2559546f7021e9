// Package gpu describes the GPUs that a node pretends to have.
package gpu

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"local/fake-gpu/internal/config"
)

// ResourceName is the extended resource under which the GPUs are advertised.
const ResourceName = "nvidia.com/gpu"

const (
	// DriverVersion is the version of the NVIDIA driver that is reported everywhere.
	DriverVersion = "580.126.09"
	// CUDAVersion is the newest CUDA version of that driver.
	CUDAVersion = "13.0"
)

// GPU is one device of a node.
type GPU struct {
	Index    int    // position on the node, from 0
	UUID     string // "GPU-<uuid>", the same for the same node and index
	PCIBusID string // "00000000:03:00.0"
	Healthy  bool
}

// Node is a node with its GPUs in index order.
type Node struct {
	Name      string
	Mode      config.Mode
	Product   string // as in the label nvidia.com/gpu.product
	MemoryMiB int    // of each GPU
	GPUs      []GPU
}

// NewNode returns the named node with healthy GPUs as the configuration describes them.
func NewNode(name string, cfg config.Config) Node {
	spec := cfg.ForNode(name)
	node := Node{Name: name, Mode: cfg.Mode, Product: spec.Product, MemoryMiB: spec.MemoryMiB}
	for index := range spec.Count {
		node.GPUs = append(node.GPUs, GPU{
			Index:    index,
			UUID:     deviceUUID(name, index),
			PCIBusID: fmt.Sprintf("00000000:%02X:00.0", firstBus+index),
			Healthy:  true,
		})
	}
	return node
}

// firstBus is the PCI bus of GPU 0: the first free one behind a usual virtual machine's own devices.
const firstBus = 3

func deviceUUID(node string, index int) string {
	return "GPU-" + uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%s-%d", node, index)).String()
}

// ModelName returns the product as nvidia-smi and DCGM spell it: GPU feature discovery replaces blanks by dashes,
// of which only the one after the vendor's name can be told apart again.
func (n Node) ModelName() string {
	for _, vendor := range []string{"NVIDIA", "GRID", "Tesla"} {
		if rest, found := strings.CutPrefix(n.Product, vendor+"-"); found {
			return vendor + " " + rest
		}
	}
	return n.Product
}

// ByUUID returns the GPU with the given UUID, and false when the node has none such.
func (n Node) ByUUID(id string) (GPU, bool) {
	for _, device := range n.GPUs {
		if device.UUID == id {
			return device, true
		}
	}
	return GPU{}, false
}
