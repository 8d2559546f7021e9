package reservation

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
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"local/fake-gpu/internal/kai"
	"local/fake-gpu/internal/kubelettest"
	"local/fake-gpu/internal/node"
	"local/fake-gpu/internal/podresources"
)

const space = "kai-resource-reservation"

func pod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "u-1", Labels: map[string]string{"app": space}},
		Spec:       corev1.PodSpec{NodeName: "n"},
	}
}

// start runs an agent on the pods and returns kubelet's side and the agent's end.
func start(t *testing.T, client *fake.Clientset) (*kubelettest.PodResources, <-chan error) {
	t.Helper()
	kubelet := kubelettest.ServePodResources(t)
	devices, err := podresources.NewClient(kubelet.Socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	pods := node.NewPodInformer(client, "n")
	agent := &Agent{Client: client, Pods: pods, Devices: devices, Log: slog.New(slog.DiscardHandler)}
	ended := make(chan error, 1)
	go pods.RunWithContext(ctx)
	go func() { ended <- agent.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		_ = devices.Close()
	})
	return kubelet, ended
}

func annotation(t *testing.T, client *fake.Clientset, namespace, name string) string {
	t.Helper()
	got, err := client.CoreV1().Pods(namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return got.Annotations[kai.ReservedDevice]
}

func TestAnswersReservationPods(t *testing.T) {
	answered := pod(space, "answered")
	answered.Annotations = map[string]string{kai.ReservedDevice: "GPU-old"}
	client := fake.NewClientset(pod(space, "early"), pod(space, "late"), pod(space, "two"), pod("team-a", "foreign"), answered)
	kubelet, _ := start(t, client)
	kubelet.Give(space, "early", "resource-reservation", "nvidia.com/gpu", "GPU-1")
	kubelet.Give(space, "two", "resource-reservation", "nvidia.com/gpu", "GPU-2", "GPU-3")
	kubelet.Give(space, "answered", "resource-reservation", "nvidia.com/gpu", "GPU-4")
	kubelet.Give("team-a", "foreign", "main", "nvidia.com/gpu", "GPU-5")
	waitFor(t, func() bool { return annotation(t, client, space, "early") == "GPU-1" })
	if got := annotation(t, client, space, "late"); got != "" {
		t.Errorf("a pod without a device was given %q", got)
	}
	kubelet.Give(space, "late", "resource-reservation", "nvidia.com/gpu", "GPU-6")
	waitFor(t, func() bool { return annotation(t, client, space, "late") == "GPU-6" })

	// A pod that appears while the agent runs.
	if _, err := client.CoreV1().Pods("runai-reservation").Create(context.Background(), pod("runai-reservation", "new"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	kubelet.Give("runai-reservation", "new", "resource-reservation", "nvidia.com/gpu", "GPU-7")
	waitFor(t, func() bool { return annotation(t, client, "runai-reservation", "new") == "GPU-7" })

	for _, untouched := range []struct{ namespace, name, want string }{
		{space, "two", ""}, {space, "answered", "GPU-old"}, {"team-a", "foreign", ""},
	} {
		if got := annotation(t, client, untouched.namespace, untouched.name); got != untouched.want {
			t.Errorf("%s: got %q, want %q", untouched.name, got, untouched.want)
		}
	}
}

func TestTriesAgainAfterAConflict(t *testing.T) {
	client := fake.NewClientset(pod(space, "p"))
	failures := 2
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		failures--
		return failures >= 0, nil, errors.New("try later")
	})
	kubelet, _ := start(t, client)
	kubelet.Give(space, "p", "resource-reservation", "nvidia.com/gpu", "GPU-1")
	waitFor(t, func() bool { return annotation(t, client, space, "p") == "GPU-1" })
}

func TestMissingRightsEndTheAgent(t *testing.T) {
	client := fake.NewClientset(pod(space, "p"))
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("pods"), "p", errors.New("no role"))
	})
	kubelet, ended := start(t, client)
	kubelet.Give(space, "p", "resource-reservation", "nvidia.com/gpu", "GPU-1")
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "verb patch on pods") {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still running")
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
