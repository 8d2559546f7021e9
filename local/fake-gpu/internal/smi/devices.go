// Package smi answers as nvidia-smi does, from the agent's node file and the container's environment.
package smi

import (
	"slices"
	"strconv"
	"strings"

	"local/fake-gpu/internal/nodefile"
)

// device is a GPU as the container sees it: numbered from 0 among the visible ones.
type device struct {
	nodefile.GPU
	position int
}

// visible picks the node's GPUs that NVIDIA_VISIBLE_DEVICES names by UUID or index, in the node's order.
// It also returns the entries that name none.
func visible(node nodefile.Node, value string) ([]device, []string) {
	var names, unknown []string
	switch value = strings.TrimSpace(value); value {
	case "", "none", "void":
		return nil, nil
	case "all":
		for _, g := range node.GPUs {
			names = append(names, g.UUID)
		}
	default:
		for name := range strings.SplitSeq(value, ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	chosen := map[string]bool{}
	for _, name := range names {
		i := slices.IndexFunc(node.GPUs, func(g nodefile.GPU) bool { return g.UUID == name || strconv.Itoa(g.Index) == name })
		if i < 0 {
			unknown = append(unknown, name)
			continue
		}
		chosen[node.GPUs[i].UUID] = true
	}
	var devices []device
	for _, g := range node.GPUs {
		if chosen[g.UUID] {
			devices = append(devices, device{GPU: g, position: len(devices)})
		}
	}
	return devices, unknown
}

// selectIDs keeps the devices that option -i names by position, UUID or PCI bus id, and returns false when one of
// the names fits none.
func selectIDs(devices []device, ids string) ([]device, bool) {
	if ids == "" {
		return devices, true
	}
	wanted := strings.Split(ids, ",")
	var kept []device
	for _, d := range devices {
		if slices.ContainsFunc(wanted, d.named) {
			kept = append(kept, d)
		}
	}
	for _, name := range wanted {
		if !slices.ContainsFunc(devices, func(d device) bool { return d.named(name) }) {
			return nil, false
		}
	}
	return kept, true
}

func (d device) named(id string) bool {
	id = strings.TrimSpace(id)
	return id == strconv.Itoa(d.position) || id == d.UUID || strings.EqualFold(id, d.PCIBusID)
}
