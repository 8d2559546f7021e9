package deviceplugin

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"

	"local/fake-gpu/internal/config"
	"local/fake-gpu/internal/kubelettest"
	"local/fake-gpu/internal/state"
)

func cfg(count int) config.Config {
	return config.Config{Mode: config.Passthrough, Default: config.GPUs{Count: count, Product: "P", MemoryMiB: 1000}}
}

// start runs a plugin against the kubelet and returns its store and its end.
func start(t *testing.T, kubelet *kubelettest.Kubelet) (*Plugin, <-chan error) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	plugin := &Plugin{Store: state.New("n", log), Dir: kubelet.Dir, Poll: 10 * time.Millisecond, Log: log}
	plugin.Store.SetConfig(cfg(3))
	plugin.Store.SetUnhealthy("")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- plugin.Run(ctx) }()
	t.Cleanup(cancel)
	return plugin, ended
}

func next(t *testing.T, kubelet *kubelettest.Kubelet) string {
	t.Helper()
	select {
	case list := <-kubelet.Devices:
		var states []string
		for _, d := range list {
			states = append(states, d.GetHealth())
		}
		return strings.Join(states, " ")
	case <-time.After(10 * time.Second):
		t.Fatal("kubelet got no device list")
		return ""
	}
}

func TestDevicesFollowHealthAndCount(t *testing.T) {
	kubelet := kubelettest.New(t)
	kubelet.Start(t)
	plugin, _ := start(t, kubelet)
	if got := next(t, kubelet); got != "Healthy Healthy Healthy" {
		t.Fatalf("at first: %q", got)
	}
	_, request := kubelet.Plugin()
	if request.GetResourceName() != "nvidia.com/gpu" || request.GetVersion() != "v1beta1" {
		t.Errorf("registered as %v", request)
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { plugin.Store.SetUnhealthy("1") }, "Healthy Unhealthy Healthy"},
		{func() { plugin.Store.SetConfig(cfg(1)) }, "Healthy"},
		{func() { plugin.Store.SetConfig(cfg(0)) }, ""},
		{func() { plugin.Store.SetConfig(cfg(2)) }, "Healthy Unhealthy"},
		{func() { plugin.Store.SetUnhealthy("") }, "Healthy Healthy"},
	} {
		step.do()
		if got := next(t, kubelet); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}

func TestAllocate(t *testing.T) {
	kubelet := kubelettest.New(t)
	kubelet.Start(t)
	plugin, _ := start(t, kubelet)
	next(t, kubelet)
	client, _ := kubelet.Plugin()
	node, _ := plugin.Store.Node()
	ids := []string{node.GPUs[0].UUID, node.GPUs[1].UUID, node.GPUs[2].UUID}
	answer, err := client.Allocate(context.Background(), &api.AllocateRequest{ContainerRequests: []*api.ContainerAllocateRequest{
		{DevicesIds: []string{ids[2], ids[0]}}, {DevicesIds: []string{ids[1]}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range answer.GetContainerResponses() {
		got = append(got, c.GetEnvs()["NVIDIA_VISIBLE_DEVICES"])
	}
	if want := []string{ids[0] + "," + ids[2], ids[1]}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	_, err = client.Allocate(context.Background(), &api.AllocateRequest{ContainerRequests: []*api.ContainerAllocateRequest{{DevicesIds: []string{"GPU-x"}}}})
	if status.Code(err) != codes.NotFound || !strings.Contains(err.Error(), "GPU-x") {
		t.Errorf("unknown device: %v", err)
	}
}

func TestRegistersAgainAfterARestartOfKubelet(t *testing.T) {
	kubelet := kubelettest.New(t)
	plugin, _ := start(t, kubelet) // before kubelet
	time.Sleep(30 * time.Millisecond)
	if plugin.Healthy() == nil {
		t.Error("healthy without kubelet")
	}
	for round := range 3 {
		kubelet.Start(t)
		if got := next(t, kubelet); got != "Healthy Healthy Healthy" {
			t.Fatalf("round %d: %q", round, got)
		}
		waitFor(t, func() bool { return plugin.Healthy() == nil })
		kubelet.Stop()
		waitFor(t, func() bool { return plugin.Healthy() != nil })
	}
}

func TestARefusalEndsThePlugin(t *testing.T) {
	kubelet := kubelettest.New(t)
	kubelet.Refuse = status.Error(codes.InvalidArgument, "no such version")
	kubelet.Start(t)
	_, ended := start(t, kubelet)
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "kubelet refused nvidia.com/gpu") || !strings.Contains(err.Error(), "no such version") {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still running")
	}
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}
