// Package kai holds the names by which KAI Scheduler marks shared GPUs.
//
// They are taken from KAI v0.12.0: pkg/binder/binding/resourcereservation and pkg/common/constants.
package kai

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

const (
	// ReservedDevice is the annotation in which KAI's binder expects the UUID of the GPU that a reservation pod holds.
	ReservedDevice = "run.ai/reserve_for_gpu_index"
	// FractionRequest is the share of one GPU that a pod asks for, such as "0.5".
	FractionRequest = "gpu-fraction"
	// MemoryRequest is the GPU memory in MiB that a pod asks for, the alternative to FractionRequest.
	MemoryRequest = "gpu-memory"

	appLabel   = "app"
	groupLabel = "runai-gpu-group"
)

// reservationNames are the namespaces of reservation pods, each of which is also the pods' `app` label:
// KAI's own and the one of the full Run:ai platform.
var reservationNames = []string{"kai-resource-reservation", "runai-reservation"}

// IsReservation reports whether the pod only holds a GPU for the pods that share it.
func IsReservation(pod *corev1.Pod) bool {
	return slices.Contains(reservationNames, pod.Namespace) && slices.Contains(reservationNames, pod.Labels[appLabel])
}

// SharesGroupOf reports whether the pod runs on the GPU that the reservation pod holds.
func SharesGroupOf(pod, reservation *corev1.Pod) bool {
	group := reservation.Labels[groupLabel]
	if group == "" || IsReservation(pod) {
		return false
	}
	// A pod on several shared GPUs carries one label for each group.
	_, several := pod.Labels[groupLabel+"/"+group]
	return several || pod.Labels[groupLabel] == group
}
