package node

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"local/fake-gpu/internal/config"
	"local/fake-gpu/internal/gpu"
	"local/fake-gpu/internal/state"
)

func cfg(count int) config.Config {
	return config.Config{Mode: config.Passthrough, Default: config.GPUs{Count: count, Product: "P", MemoryMiB: 1000}}
}

func start(t *testing.T, client *fake.Clientset) (*state.Store, <-chan error) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	store := state.New("n", log)
	informer := NewInformer(client, "n")
	if err := FollowHealth(informer, store); err != nil {
		t.Fatal(err)
	}
	labeller := &Labeller{Client: client, Informer: informer, Store: store, NodeName: "n", Retry: 10 * time.Millisecond, Log: log}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- RunInformer(ctx, informer, "node n", 10*time.Second) }()
	go func() { ended <- labeller.Run(ctx) }()
	t.Cleanup(cancel)
	return store, ended
}

func label(t *testing.T, client *fake.Clientset, key string) string {
	t.Helper()
	node, err := client.CoreV1().Nodes().Get(context.Background(), "n", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return node.Labels[key]
}

func patchNode(t *testing.T, client *fake.Clientset, patch string) {
	t.Helper()
	if _, err := client.CoreV1().Nodes().Patch(context.Background(), "n", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func bareNode() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"mine": "1"}}}
}

func TestLabelsFollowTheStoreAndAreRepaired(t *testing.T) {
	client := fake.NewClientset(bareNode())
	store, _ := start(t, client)
	store.SetConfig(cfg(4))
	waitFor(t, func() bool { return label(t, client, "nvidia.com/gpu.count") == "4" })
	patchNode(t, client, `{"metadata":{"labels":{"nvidia.com/gpu.count":"9","run.ai/fake.gpu":null}}}`)
	waitFor(t, func() bool {
		return label(t, client, "nvidia.com/gpu.count") == "4" && label(t, client, FakeLabel) == "true"
	})
	store.SetConfig(cfg(0))
	waitFor(t, func() bool {
		return label(t, client, "nvidia.com/gpu.count") == "" && label(t, client, FakeLabel) == ""
	})
	if label(t, client, "mine") != "1" {
		t.Error("a foreign label went")
	}
}

func TestHealthFollowsTheAnnotation(t *testing.T) {
	client := fake.NewClientset(bareNode())
	store, _ := start(t, client)
	store.SetConfig(cfg(2))
	healthy := func(index int) bool {
		node, known := store.Node()
		return known && node.GPUs[index].Healthy
	}
	waitFor(t, func() bool { return healthy(0) && healthy(1) })
	patchNode(t, client, `{"metadata":{"annotations":{"`+gpu.UnhealthyAnnotation+`":"1,nonsense"}}}`)
	waitFor(t, func() bool { return healthy(0) && !healthy(1) })
	patchNode(t, client, `{"metadata":{"annotations":{"`+gpu.UnhealthyAnnotation+`":null}}}`)
	waitFor(t, func() bool { return healthy(1) })
}

func TestPatchErrors(t *testing.T) {
	client := fake.NewClientset(bareNode())
	failures := 2
	client.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		failures--
		return failures >= 0, nil, errors.New("try later")
	})
	store, _ := start(t, client)
	store.SetConfig(cfg(1))
	waitFor(t, func() bool { return label(t, client, "nvidia.com/gpu.count") == "1" })

	forbidding := fake.NewClientset(bareNode())
	forbidding.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("nodes"), "n", errors.New("no role"))
	})
	store, ended := start(t, forbidding)
	store.SetConfig(cfg(1))
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "verb patch on nodes") {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still running")
	}
}

func TestAnInformerThatCannotListFails(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no route")
	})
	err := RunInformer(context.Background(), NewInformer(client, "n"), "node n", 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "could not list node n") {
		t.Errorf("got %v", err)
	}
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}
