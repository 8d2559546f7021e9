package usage

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"local/fake-gpu/internal/config"
	"local/fake-gpu/internal/nodefile"
	"local/fake-gpu/internal/podresources"
	"local/fake-gpu/internal/state"
)

const memory = 80000

type devices struct {
	owners podresources.Owners
	err    error
}

func (d *devices) Owners(context.Context) (podresources.Owners, error) { return d.owners, d.err }

type bench struct {
	*Sampler
	devices *devices
	uuids   []string
}

func newBench(t *testing.T, count int) *bench {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	store := state.New("n", log)
	store.SetConfig(config.Config{Mode: config.Passthrough, Default: config.GPUs{Count: count, Product: "NVIDIA-X", MemoryMiB: memory}})
	store.SetUnhealthy("")
	b := &bench{devices: &devices{owners: podresources.Owners{}}}
	b.Sampler = &Sampler{Store: store, Devices: b.devices, Pods: cache.NewStore(cache.MetaNamespaceKeyFunc), Now: func() time.Time { return time.Unix(1000, 0) }, Log: log}
	node, _ := store.Node()
	for _, g := range node.GPUs {
		b.uuids = append(b.uuids, g.UUID)
	}
	return b
}

func (b *bench) pod(t *testing.T, namespace, name string, phase corev1.PodPhase, labels, annotations map[string]string) {
	t.Helper()
	if err := b.Pods.Add(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, Annotations: annotations},
		Status:     corev1.PodStatus{Phase: phase},
	}); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) give(gpu int, namespace, pod string) {
	b.devices.owners[b.uuids[gpu]] = podresources.Owner{Namespace: namespace, Pod: pod, Container: "c"}
}

func TestSample(t *testing.T) {
	const space = "kai-resource-reservation"
	b := newBench(t, 6)
	group := map[string]string{"runai-gpu-group": "g"}
	b.pod(t, "a", "whole", corev1.PodRunning, nil, nil)
	b.give(1, "a", "whole")
	b.pod(t, "a", "set", corev1.PodRunning, nil, map[string]string{SpanAnnotation: "10-30"})
	b.give(2, "a", "set")
	b.pod(t, "a", "pending", corev1.PodPending, nil, nil)
	b.give(3, "a", "pending")
	b.pod(t, space, "reserve", corev1.PodRunning, map[string]string{"app": space, "runai-gpu-group": "g"}, nil)
	b.pod(t, "a", "half", corev1.PodRunning, group, map[string]string{"gpu-fraction": "0.5", SpanAnnotation: "40"})
	b.pod(t, "b", "mib", corev1.PodRunning, map[string]string{"runai-gpu-group/g": "g"}, map[string]string{"gpu-memory": "20000", SpanAnnotation: "5"})
	b.pod(t, "b", "done", corev1.PodSucceeded, group, map[string]string{"gpu-fraction": "0.2"})
	b.give(4, space, "reserve")
	b.pod(t, "a", "wrong", corev1.PodRunning, nil, map[string]string{SpanAnnotation: "lots"})
	b.give(5, "a", "wrong")

	_, readings, err := b.Sample(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		pod       string
		low, high int // utilisation
		memory    int
	}{
		{"", 0, 0, 0},
		{"whole", 80, 100, 60000},
		{"set", 10, 30, 60000},
		{"pending", 0, 0, 0},
		{"reserve", 45, 45, 45000}, // 0.75 × (0.5 + 0.25) of the memory
		{"wrong", 80, 100, 60000},
	} {
		r := readings[i]
		if r.GPU.Index != i || r.Owner.Pod != want.pod || r.Utilization < want.low || r.Utilization > want.high || r.MemoryUsedMiB != want.memory {
			t.Errorf("GPU %d: got %+v, want %+v", i, r, want)
		}
		if busy := r.Utilization > 0; busy != (r.Temperature > idleTemperature) || busy != (r.SMClockMHz == busyClockMHz) {
			t.Errorf("GPU %d: temperature or clock does not fit: %+v", i, r)
		}
	}
}

func TestSampleFailsClosed(t *testing.T) {
	b := newBench(t, 1)
	b.devices.err = errors.New("kubelet is away")
	if _, _, err := b.Sample(context.Background()); !errors.Is(err, b.devices.err) {
		t.Errorf("got %v", err)
	}
	b.Store = state.New("n", b.Log)
	if _, _, err := b.Sample(context.Background()); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v", err)
	}
}

func TestPublisherWritesTheNodeFile(t *testing.T) {
	b := newBench(t, 2)
	b.pod(t, "a", "p", corev1.PodRunning, nil, map[string]string{SpanAnnotation: "40"})
	b.give(1, "a", "p")
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	publisher := &Publisher{Sampler: b.Sampler, Dir: dir, Interval: 10 * time.Millisecond, Log: b.Log}
	go func() { ended <- publisher.Run(ctx) }()
	read := func(accept func(nodefile.Node) bool) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			if node, err := nodefile.Read(dir); err == nil && accept(node) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal("waited in vain")
			}
		}
	}
	read(func(n nodefile.Node) bool {
		return len(n.GPUs) == 2 && n.GPUs[0].Utilization == 0 && n.GPUs[1].Utilization == 40 && n.GPUs[1].UUID == b.uuids[1] &&
			n.GPUs[1].Name == "NVIDIA X" && n.GPUs[1].MemoryUsed == 60000 && n.GPUs[1].MemoryTotal == memory && !n.VGPU
	})
	b.Store.SetConfig(config.Config{Mode: config.VGPU, Default: config.GPUs{Product: "P", MemoryMiB: 1000}})
	read(func(n nodefile.Node) bool { return len(n.GPUs) == 0 && n.VGPU })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestPublisherShowsTheGPUsWithoutKubelet(t *testing.T) {
	b := newBench(t, 2)
	b.devices.err = errors.New("kubelet is away")
	content, known := (&Publisher{Sampler: b.Sampler, Log: b.Log}).content(context.Background())
	if !known || len(content.GPUs) != 2 || content.GPUs[1].UUID != b.uuids[1] || content.GPUs[1].Utilization != 0 {
		t.Errorf("got %+v", content)
	}
}

func TestPublisherNeedsItsDirectory(t *testing.T) {
	b := newBench(t, 1)
	err := (&Publisher{Sampler: b.Sampler, Dir: "/does/not/exist", Interval: time.Hour, Log: b.Log}).Run(context.Background())
	if err == nil {
		t.Error("no error")
	}
}
