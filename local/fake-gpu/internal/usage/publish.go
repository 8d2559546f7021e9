package usage

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"local/fake-gpu/internal/config"
	"local/fake-gpu/internal/gpu"
	"local/fake-gpu/internal/nodefile"
)

// Publisher keeps the file that nvidia-smi reads up to date.
type Publisher struct {
	Sampler  *Sampler
	Dir      string
	Interval time.Duration
	Log      *slog.Logger

	failing bool // the last sample failed
}

// Run writes the file at each change of the GPUs and, when readings changed, each interval, until the context ends.
// While kubelet does not answer, the GPUs are shown idle. It fails when the file cannot be written.
func (p *Publisher) Run(ctx context.Context) error {
	changes, unsubscribe := p.Sampler.Store.Subscribe()
	defer unsubscribe()
	ticker := time.NewTicker(p.Interval)
	defer ticker.Stop()
	var last nodefile.Node
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changes:
		case <-ticker.C:
		}
		content, known := p.content(ctx)
		if !known || reflect.DeepEqual(content, last) {
			continue
		}
		if err := nodefile.Write(p.Dir, content); err != nil {
			return fmt.Errorf("node file: %w; mount %s from the node, writable", err, p.Dir)
		}
		last = content
	}
}

func (p *Publisher) content(ctx context.Context) (nodefile.Node, bool) {
	node, known := p.Sampler.Store.Node()
	if !known {
		return nodefile.Node{}, false
	}
	readings := make([]Reading, len(node.GPUs))
	for i, device := range node.GPUs {
		readings[i] = Reading{GPU: device, Temperature: idleTemperature, SMClockMHz: idleClockMHz}
	}
	sampled, now, err := p.Sampler.Sample(ctx)
	if err == nil {
		node, readings = sampled, now
	} else if ctx.Err() == nil && !p.failing { // said once, not each interval
		p.Log.Warn("node file shows the GPUs idle until kubelet answers", "error", err)
	}
	p.failing = err != nil
	return fileContent(node, readings), true
}

func fileContent(node gpu.Node, readings []Reading) nodefile.Node {
	content := nodefile.Node{
		Node: node.Name, VGPU: node.Mode == config.VGPU,
		DriverVersion: gpu.DriverVersion, CUDAVersion: gpu.CUDAVersion, GPUs: []nodefile.GPU{},
	}
	for _, r := range readings {
		content.GPUs = append(content.GPUs, nodefile.GPU{
			Index: r.GPU.Index, UUID: r.GPU.UUID, Name: node.ModelName(), PCIBusID: r.GPU.PCIBusID,
			MemoryTotal: node.MemoryMiB, MemoryUsed: r.MemoryUsedMiB,
			Utilization: r.Utilization, MemoryUtilization: r.MemoryUtilization,
			Temperature: r.Temperature, SMClock: r.SMClockMHz,
		})
	}
	return content
}
