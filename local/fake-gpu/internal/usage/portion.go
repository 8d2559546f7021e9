package usage

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"local/fake-gpu/internal/kai"
)

// portion is the share of a GPU, from 0 to 1, that a pod asked KAI for; pods that ask for no part use the whole.
func portion(pod *corev1.Pod, memoryMiB int) float64 {
	if share, err := strconv.ParseFloat(pod.Annotations[kai.FractionRequest], 64); err == nil && share > 0 {
		return min(share, 1)
	}
	if memory, err := strconv.Atoi(pod.Annotations[kai.MemoryRequest]); err == nil && memory > 0 {
		return min(float64(memory)/float64(memoryMiB), 1)
	}
	return 1
}
