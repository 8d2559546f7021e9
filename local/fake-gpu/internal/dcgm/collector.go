package dcgm

import (
	"context"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"local/fake-gpu/internal/config"
	"local/fake-gpu/internal/gpu"
	"local/fake-gpu/internal/usage"
)

var labelNames = []string{
	"gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname", "DCGM_FI_DRIVER_VERSION",
	"container", "namespace", "pod",
}

// Collector reads all GPUs at each scrape. A scrape fails when kubelet does not say who holds them.
type Collector struct {
	Sampler *usage.Sampler
}

// Describe tells nothing in advance: which metrics exist depends on the mode at the time of the scrape.
func (c *Collector) Describe(chan<- *prometheus.Desc) {}

// Collect takes one reading of each GPU.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	node, readings, err := c.Sampler.Sample(context.Background())
	if err != nil {
		out <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
		return
	}
	for _, m := range metrics {
		if m.vgpu == passthroughOnly && node.Mode == config.VGPU || m.vgpu == vgpuOnly && node.Mode != config.VGPU {
			continue
		}
		desc := prometheus.NewDesc(m.name, m.help, labelNames, nil)
		for _, r := range readings {
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(m.value(node, r)), labelValues(node, r)...)
		}
	}
}

func labelValues(node gpu.Node, r usage.Reading) []string {
	index := strconv.Itoa(r.GPU.Index)
	return []string{
		index, r.GPU.UUID, r.GPU.PCIBusID, "nvidia" + index, node.ModelName(), node.Name, gpu.DriverVersion,
		r.Owner.Container, r.Owner.Namespace, r.Owner.Pod,
	}
}
