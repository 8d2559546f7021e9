// Package dcgm serves the GPU metrics of NVIDIA's DCGM exporter under their real names and labels.
package dcgm

import (
	"local/fake-gpu/internal/gpu"
	"local/fake-gpu/internal/usage"
)

// metric is one gauge.
type metric struct {
	name, help string
	vgpu       presence
	value      func(gpu.Node, usage.Reading) int
}

// presence says in which mode a metric exists.
type presence int

const (
	always presence = iota
	passthroughOnly
	vgpuOnly
)

// metrics follow the exporter's default list. What a vGPU guest shows was taken from outputs on such guests: no
// temperature, but the clock, and the licence in addition (NVIDIA/dcgm-exporter issues 193 and 236, and the AI
// conformance evidence of VKS 3.6 for GRID A100-40C).
var metrics = []metric{
	{"DCGM_FI_DEV_SM_CLOCK", "SM clock frequency (in MHz).", always,
		func(_ gpu.Node, r usage.Reading) int { return r.SMClockMHz }},
	{"DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", passthroughOnly,
		func(_ gpu.Node, r usage.Reading) int { return r.Temperature }},
	{"DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", always,
		func(_ gpu.Node, r usage.Reading) int { return r.Utilization }},
	{"DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %).", always,
		func(_ gpu.Node, r usage.Reading) int { return r.MemoryUtilization }},
	{"DCGM_FI_DEV_ENC_UTIL", "Encoder utilization (in %).", always,
		func(gpu.Node, usage.Reading) int { return 0 }},
	{"DCGM_FI_DEV_DEC_UTIL", "Decoder utilization (in %).", always,
		func(gpu.Node, usage.Reading) int { return 0 }},
	{"DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB).", always,
		func(n gpu.Node, r usage.Reading) int { return n.MemoryMiB - r.MemoryUsedMiB }},
	{"DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", always,
		func(_ gpu.Node, r usage.Reading) int { return r.MemoryUsedMiB }},
	{"DCGM_FI_DEV_VGPU_LICENSE_STATUS", "vGPU License status", vgpuOnly,
		func(gpu.Node, usage.Reading) int { return 1 }},
}
