// Package nodefile is the file through which the agent tells containers about the node's GPUs.
//
// It depends on nothing but the standard library, because nvidia-smi reads it inside every GPU container.
package nodefile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const (
	// Dir is the directory on the node that GPU containers get at the same path.
	Dir = "/run/fake-gpu"
	// Name is the file's name in Dir.
	Name = "node.json"
)

// Node is the content of the file: a node and its GPUs in index order.
type Node struct {
	Node          string `json:"node"`
	VGPU          bool   `json:"vgpu"` // a virtual machine's GPUs, without temperature
	DriverVersion string `json:"driverVersion"`
	CUDAVersion   string `json:"cudaVersion"`
	GPUs          []GPU  `json:"gpus"`
}

// GPU is one device with its latest readings: memory in MiB, utilisation in percent, temperature in °C, clock in MHz.
type GPU struct {
	Index             int    `json:"index"`
	UUID              string `json:"uuid"`
	Name              string `json:"name"`
	PCIBusID          string `json:"pciBusID"`
	MemoryTotal       int    `json:"memoryTotalMiB"`
	MemoryUsed        int    `json:"memoryUsedMiB"`
	Utilization       int    `json:"utilization"`
	MemoryUtilization int    `json:"memoryUtilization"`
	Temperature       int    `json:"temperature"`
	SMClock           int    `json:"smClockMHz"`
}

// Read returns the content of the file in dir.
func Read(dir string) (Node, error) {
	path := filepath.Join(dir, Name)
	text, err := os.ReadFile(path)
	if err != nil {
		return Node{}, err
	}
	var node Node
	if err := json.Unmarshal(text, &node); err != nil {
		return Node{}, fmt.Errorf("%s: %w", path, err)
	}
	return node, nil
}

// Write replaces the file in dir in one step, so that a reader never sees half of it.
// The directory itself is kept, because containers have it mounted.
func Write(dir string, node Node) error {
	text, err := json.MarshalIndent(node, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, "."+Name+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // no effect after the rename
	_, err = file.Write(append(text, '\n'))
	if chmodErr := file.Chmod(0o644); err == nil { // containers may run as any user
		err = chmodErr
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), filepath.Join(dir, Name))
}
