package smi

import (
	"strconv"
	"time"

	"local/fake-gpu/internal/nodefile"
)

// view is what the values of a query are taken from.
type view struct {
	node  nodefile.Node
	count int // visible GPUs
	now   time.Time
}

// field is one column of --query-gpu.
type field struct {
	name  string // as in the header
	unit  string // "MiB", "%", "MHz" or none
	value func(view, device) string
}

const notAvailable = "[N/A]"

// fields by the names that may be asked for; several names may stand for one field.
var fields = func() map[string]field {
	known := map[string]field{}
	add := func(f field, aliases ...string) {
		for _, name := range append(aliases, f.name) {
			known[name] = f
		}
	}
	number := func(value func(device) int) func(view, device) string {
		return func(_ view, d device) string { return strconv.Itoa(value(d)) }
	}
	fixed := func(text string) func(view, device) string {
		return func(view, device) string { return text }
	}
	add(field{"timestamp", "", func(v view, _ device) string { return v.now.Format("2006/01/02 15:04:05.000") }})
	add(field{"driver_version", "", func(v view, _ device) string { return v.node.DriverVersion }})
	add(field{"count", "", func(v view, _ device) string { return strconv.Itoa(v.count) }})
	add(field{"index", "", number(func(d device) int { return d.position })})
	add(field{"name", "", func(_ view, d device) string { return d.Name }}, "gpu_name")
	add(field{"uuid", "", func(_ view, d device) string { return d.UUID }}, "gpu_uuid")
	add(field{"pci.bus_id", "", func(_ view, d device) string { return d.PCIBusID }}, "gpu_bus_id")
	add(field{"memory.total", "MiB", number(func(d device) int { return d.MemoryTotal })})
	add(field{"memory.used", "MiB", number(func(d device) int { return d.MemoryUsed })})
	add(field{"memory.free", "MiB", number(func(d device) int { return d.MemoryTotal - d.MemoryUsed })})
	add(field{"utilization.gpu", "%", number(func(d device) int { return d.Utilization })})
	add(field{"utilization.memory", "%", number(func(d device) int { return d.MemoryUtilization })})
	add(field{"temperature.gpu", "", func(v view, d device) string {
		if v.node.VGPU {
			return notAvailable
		}
		return strconv.Itoa(d.Temperature)
	}})
	add(field{"clocks.current.sm", "MHz", number(func(d device) int { return d.SMClock })}, "clocks.sm")
	add(field{"pstate", "", fixed("P0")})
	add(field{"persistence_mode", "", fixed("Enabled")})
	add(field{"compute_mode", "", fixed("Default")})
	add(field{"mig.mode.current", "", fixed(notAvailable)})
	add(field{"power.draw", "W", fixed(notAvailable)})
	return known
}()
