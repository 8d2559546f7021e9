// Package reservation tells KAI's binder which GPU each reservation pod got.
//
// On real GPUs the reservation pod asks NVML and annotates itself. On fake ones it only sleeps, so the node's
// agent asks kubelet and annotates it.
package reservation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"local/fake-gpu/internal/kai"
	"local/fake-gpu/internal/podresources"
)

// Devices tells who holds which GPU.
type Devices interface {
	Owners(ctx context.Context) (podresources.Owners, error)
}

// Agent annotates the reservation pods that the informer shows.
type Agent struct {
	Client  kubernetes.Interface
	Pods    cache.SharedIndexInformer // of this node's pods, run by the caller
	Devices Devices
	Log     *slog.Logger
}

// The binder gives up after 40 s, so retries are quick and never far apart.
const (
	firstRetry   = 100 * time.Millisecond
	slowestRetry = 2 * time.Second
)

// Run works until the context ends. It fails when the agent is not allowed to patch reservation pods.
func (a *Agent) Run(ctx context.Context) error {
	queue := workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, slowestRetry))
	defer queue.ShutDown()
	enqueue := func(object any) {
		if pod, ok := object.(*corev1.Pod); ok && unanswered(pod) {
			queue.Add(pod.Namespace + "/" + pod.Name)
		}
	}
	handler, err := a.Pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, now any) { enqueue(now) },
	})
	if err != nil {
		return err
	}
	defer func() { _ = a.Pods.RemoveEventHandler(handler) }()
	stop := context.AfterFunc(ctx, queue.ShutDown)
	defer stop()
	for {
		key, shutdown := queue.Get()
		if shutdown {
			return nil
		}
		err := a.answer(ctx, key)
		queue.Done(key)
		switch {
		case err == nil:
			queue.Forget(key)
		case ctx.Err() != nil:
			return nil
		case apierrors.IsForbidden(err):
			return fmt.Errorf("reservation pod %s: %w; grant the ServiceAccount the verb patch on pods in its namespace", key, err)
		default:
			if !errors.Is(err, errNoDevice) { // the usual moment between creation and admission by kubelet
				a.Log.Warn("could not answer a reservation pod, trying again", "pod", key, "error", err)
			}
			queue.AddRateLimited(key)
		}
	}
}

// unanswered reports whether the pod is a living reservation pod whose GPU the binder does not know.
func unanswered(pod *corev1.Pod) bool {
	return kai.IsReservation(pod) && pod.Annotations[kai.ReservedDevice] == "" && pod.DeletionTimestamp == nil &&
		pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}

var errNoDevice = errors.New("kubelet has not given the pod a GPU yet")

func (a *Agent) answer(ctx context.Context, key string) error {
	object, exists, err := a.Pods.GetStore().GetByKey(key)
	if err != nil || !exists {
		return err
	}
	pod := object.(*corev1.Pod)
	if !unanswered(pod) {
		return nil
	}
	owners, err := a.Devices.Owners(ctx)
	if err != nil {
		return err
	}
	ids := owners.Of(pod.Namespace, pod.Name)
	switch len(ids) {
	case 0:
		return errNoDevice
	case 1:
	default:
		return fmt.Errorf("the pod holds %d GPUs, expected 1: %v", len(ids), ids)
	}
	return a.annotate(ctx, pod, ids[0])
}

func (a *Agent) annotate(ctx context.Context, pod *corev1.Pod, device string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         pod.UID, // never answer a later pod of the same name
		"annotations": map[string]string{kai.ReservedDevice: device},
	}})
	if err != nil {
		return err
	}
	_, err = a.Client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		a.Log.Info("told KAI the GPU of a reservation pod", "namespace", pod.Namespace, "pod", pod.Name, "gpu", device)
	}
	return err
}
