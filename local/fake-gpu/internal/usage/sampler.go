package usage

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"local/fake-gpu/internal/gpu"
	"local/fake-gpu/internal/kai"
	"local/fake-gpu/internal/podresources"
	"local/fake-gpu/internal/state"
)

// Reading is what one GPU shows at one moment.
type Reading struct {
	GPU               gpu.GPU
	Owner             podresources.Owner // the container that kubelet gave the GPU to; all empty when idle
	Utilization       int                // percent
	MemoryUtilization int                // percent of time in which memory was read or written
	MemoryUsedMiB     int
	Temperature       int // °C
	SMClockMHz        int
}

// Invented behaviour of the hardware.
const (
	idleTemperature  = 30
	heatOfFullUse    = 45
	idleClockMHz     = 210
	busyClockMHz     = 1410
	memoryShareInUse = 0.75 // of the memory a pod may use
)

// Devices tells who holds which GPU.
type Devices interface {
	Owners(ctx context.Context) (podresources.Owners, error)
}

// Sampler takes readings of all GPUs of the node.
type Sampler struct {
	Store   *state.Store
	Devices Devices
	Pods    cache.Store // this node's pods
	Now     func() time.Time
	Log     *slog.Logger
}

// ErrUnknown means that the configuration or the node have not been read yet.
var ErrUnknown = errors.New("the node's GPUs are not known yet")

// Sample returns the node and one reading per GPU in index order.
func (s *Sampler) Sample(ctx context.Context) (gpu.Node, []Reading, error) {
	node, known := s.Store.Node()
	if !known {
		return gpu.Node{}, nil, ErrUnknown
	}
	owners, err := s.Devices.Owners(ctx)
	if err != nil {
		return gpu.Node{}, nil, err
	}
	readings := make([]Reading, len(node.GPUs))
	for i, device := range node.GPUs {
		readings[i] = s.read(node, device, owners[device.UUID])
	}
	return node, readings, nil
}

func (s *Sampler) read(node gpu.Node, device gpu.GPU, owner podresources.Owner) Reading {
	utilization, memory := 0, 0.0
	for _, pod := range s.users(owner) {
		share := portion(pod, node.MemoryMiB)
		utilization += s.utilization(pod, device, share)
		memory += share * memoryShareInUse * float64(node.MemoryMiB)
	}
	utilization = min(utilization, 100)
	clock := idleClockMHz
	if utilization > 0 {
		clock = busyClockMHz
	}
	return Reading{
		GPU: device, Owner: owner,
		Utilization:       utilization,
		MemoryUtilization: utilization / 2,
		MemoryUsedMiB:     min(int(memory), node.MemoryMiB),
		Temperature:       idleTemperature + utilization*heatOfFullUse/100,
		SMClockMHz:        clock,
	}
}

// users are the running pods that compute on the owner's GPU: the owner itself or, when it only reserves the
// GPU, the pods that share it.
func (s *Sampler) users(owner podresources.Owner) []*corev1.Pod {
	object, exists, _ := s.Pods.GetByKey(owner.Namespace + "/" + owner.Pod)
	if !exists {
		return nil
	}
	holder := object.(*corev1.Pod)
	candidates := []any{holder}
	if kai.IsReservation(holder) {
		candidates = s.Pods.List()
	}
	var users []*corev1.Pod
	for _, candidate := range candidates {
		pod := candidate.(*corev1.Pod)
		if kai.IsReservation(holder) && !kai.SharesGroupOf(pod, holder) || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		users = append(users, pod)
	}
	return users
}

// utilization scales the usual load with the pod's share; an annotated load is taken as it is.
func (s *Sampler) utilization(pod *corev1.Pod, device gpu.GPU, share float64) int {
	seed := device.UUID + "/" + pod.Namespace + "/" + pod.Name
	text, annotated := pod.Annotations[SpanAnnotation]
	if annotated {
		load, err := parseSpan(text)
		if err == nil {
			return load.at(s.Now(), seed)
		}
		s.Log.Warn("taking the usual utilisation", "namespace", pod.Namespace, "pod", pod.Name, "error", err)
	}
	return int(math.Round(share * float64(busy.at(s.Now(), seed))))
}
