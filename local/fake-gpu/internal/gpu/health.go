package gpu

import (
	"slices"
	"strconv"
	"strings"
)

// UnhealthyAnnotation is the node annotation that lists unhealthy GPUs, by index or UUID, separated by commas.
const UnhealthyAnnotation = "runai-kit.io/unhealthy-gpus"

// WithUnhealthy returns a copy of the node in which the listed GPUs are unhealthy and all others healthy.
// It also returns the entries that name no GPU of this node.
func (n Node) WithUnhealthy(list string) (Node, []string) {
	n.GPUs = slices.Clone(n.GPUs)
	for i := range n.GPUs {
		n.GPUs[i].Healthy = true
	}
	var ignored []string
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		i := slices.IndexFunc(n.GPUs, func(g GPU) bool { return g.UUID == entry || strconv.Itoa(g.Index) == entry })
		if i < 0 {
			ignored = append(ignored, entry)
			continue
		}
		n.GPUs[i].Healthy = false
	}
	return n, ignored
}
