// Package node connects the agent to its own Node object and that node's pods: health annotation in, labels out.
package node

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// NewInformer returns an informer of the one named node.
func NewInformer(client kubernetes.Interface, name string) cache.SharedIndexInformer {
	return informers.NewFilteredNodeInformer(client, 0, cache.Indexers{}, only(metav1.ObjectNameField, name))
}

// NewPodInformer returns an informer of the pods of the named node, in all namespaces.
func NewPodInformer(client kubernetes.Interface, name string) cache.SharedIndexInformer {
	return informers.NewFilteredPodInformer(client, metav1.NamespaceAll, 0, cache.Indexers{}, only("spec.nodeName", name))
}

func only(field, value string) func(*metav1.ListOptions) {
	return func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector(field, value).String()
	}
}

// RunInformer runs the informer until the context ends. It fails when the first list takes longer than patience;
// what names the objects in that error.
func RunInformer(ctx context.Context, informer cache.SharedIndexInformer, what string, patience time.Duration) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		informer.RunWithContext(running)
	}()
	first, cancel := context.WithTimeout(running, patience)
	defer cancel()
	if !cache.WaitForCacheSync(first.Done(), informer.HasSynced) && ctx.Err() == nil {
		stop()
		<-done
		return fmt.Errorf("could not list %s within %s; check that the API server can be reached and that the ServiceAccount may list and watch them",
			what, patience)
	}
	<-done
	return nil
}
