package node

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"local/fake-gpu/internal/state"
)

// Labeller keeps the GPU labels of one node as the store says, also when somebody else changes them.
type Labeller struct {
	Client   kubernetes.Interface
	Informer cache.SharedIndexInformer // of the node, run by the caller
	Store    *state.Store
	NodeName string
	Retry    time.Duration // pause after a failed patch
	Log      *slog.Logger
}

// Run works until the context ends. It fails when the agent is not allowed to patch its node.
func (l *Labeller) Run(ctx context.Context) error {
	gpus, unsubscribe := l.Store.Subscribe()
	defer unsubscribe()
	seen := make(chan struct{}, 1)
	notify := func(any) {
		select {
		case seen <- struct{}{}:
		default:
		}
	}
	handler, err := l.Informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: notify, UpdateFunc: func(_, now any) { notify(now) },
	})
	if err != nil {
		return err
	}
	defer func() { _ = l.Informer.RemoveEventHandler(handler) }()
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-gpus:
		case <-seen:
		case <-again:
		}
		again = nil
		if err := l.reconcile(ctx); err != nil {
			if apierrors.IsForbidden(err) {
				return fmt.Errorf("labels of node %s: %w; grant the ServiceAccount the verb patch on nodes", l.NodeName, err)
			}
			l.Log.Warn("could not set the node's labels, trying again", "node", l.NodeName, "error", err)
			again = time.After(l.Retry)
		}
	}
}

func (l *Labeller) reconcile(ctx context.Context) error {
	gpus, known := l.Store.Node()
	object, exists, err := l.Informer.GetStore().GetByKey(l.NodeName)
	if err != nil || !exists || !known {
		return err
	}
	patch := changes(object.(*corev1.Node).Labels, gpus)
	if len(patch) == 0 {
		return nil
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": patch}})
	if err != nil {
		return err
	}
	_, err = l.Client.CoreV1().Nodes().Patch(ctx, l.NodeName, types.MergePatchType, text, metav1.PatchOptions{})
	if err == nil {
		l.Log.Info("set the node's labels", "node", l.NodeName, "changed", slices.Sorted(maps.Keys(patch)))
	}
	return err
}
