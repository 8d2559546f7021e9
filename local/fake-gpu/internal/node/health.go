package node

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"local/fake-gpu/internal/gpu"
	"local/fake-gpu/internal/state"
)

// FollowHealth passes the node's health annotation on to the store whenever the node changes.
func FollowHealth(informer cache.SharedIndexInformer, store *state.Store) error {
	read := func(object any) {
		if node, ok := object.(*corev1.Node); ok {
			store.SetUnhealthy(node.Annotations[gpu.UnhealthyAnnotation])
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    read,
		UpdateFunc: func(_, now any) { read(now) },
	})
	return err
}
