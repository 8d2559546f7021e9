package dcgm

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"local/fake-gpu/internal/config"
	"local/fake-gpu/internal/kubelettest"
	"local/fake-gpu/internal/podresources"
	"local/fake-gpu/internal/state"
	"local/fake-gpu/internal/usage"
)

// scrape serves two GPUs, the second held by a pod, and returns the status and text of /metrics.
func scrape(t *testing.T, mode config.Mode, socket func(*kubelettest.PodResources) string) (int, string) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	store := state.New("worker", log)
	store.SetConfig(config.Config{Mode: mode, Default: config.GPUs{Count: 2, Product: "NVIDIA-A100-SXM4-80GB", MemoryMiB: 81920}})
	store.SetUnhealthy("")
	node, _ := store.Node()
	kubelet := kubelettest.ServePodResources(t)
	kubelet.Give("team-a", "train", "main", "nvidia.com/gpu", node.GPUs[1].UUID)
	devices, err := podresources.NewClient(socket(kubelet))
	if err != nil {
		t.Fatal(err)
	}
	defer devices.Close()
	pods := cache.NewStore(cache.MetaNamespaceKeyFunc)
	if err := pods.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "train"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}); err != nil {
		t.Fatal(err)
	}
	handler, err := Handler(&Collector{Sampler: &usage.Sampler{Store: store, Devices: devices, Pods: pods, Now: time.Now, Log: log}})
	if err != nil {
		t.Fatal(err)
	}
	return get(t, handler, "/metrics")
}

func get(t *testing.T, handler http.Handler, path string) (int, string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	text, err := io.ReadAll(recorder.Body)
	if err != nil {
		t.Fatal(err)
	}
	return recorder.Code, string(text)
}

func theirSocket(k *kubelettest.PodResources) string { return k.Socket }

// value finds the one sample of a metric whose labels contain all parts.
func value(t *testing.T, text, metric string, parts ...string) int {
	t.Helper()
	var found []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, metric+"{") && !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s with %q: found %q", metric, parts, found)
	}
	number, err := strconv.Atoi(found[0][strings.LastIndex(found[0], " ")+1:])
	if err != nil {
		t.Fatal(err)
	}
	return number
}

func TestMetrics(t *testing.T) {
	code, text := scrape(t, config.Passthrough, theirSocket)
	if code != http.StatusOK {
		t.Fatalf("%d: %s", code, text)
	}
	idle := []string{`gpu="0"`, `UUID="GPU-`, `pci_bus_id="00000000:03:00.0"`, `device="nvidia0"`, `modelName="NVIDIA A100-SXM4-80GB"`,
		`Hostname="worker"`, `DCGM_FI_DRIVER_VERSION="580.126.09"`, `container=""`, `namespace=""`, `pod=""`}
	used := []string{`gpu="1"`, `device="nvidia1"`, `container="main"`, `namespace="team-a"`, `pod="train"`}
	if got := value(t, text, "DCGM_FI_DEV_GPU_UTIL", idle...); got != 0 {
		t.Errorf("an idle GPU is used by %d %%", got)
	}
	if got := value(t, text, "DCGM_FI_DEV_GPU_UTIL", used...); got < 80 {
		t.Errorf("a used GPU is used by %d %%", got)
	}
	for _, gpu := range [][]string{idle, used} {
		sum := value(t, text, "DCGM_FI_DEV_FB_USED", gpu...) + value(t, text, "DCGM_FI_DEV_FB_FREE", gpu...)
		if sum != 81920 {
			t.Errorf("used and free memory make %d", sum)
		}
	}
	if value(t, text, "DCGM_FI_DEV_FB_USED", idle...) != 0 || value(t, text, "DCGM_FI_DEV_FB_USED", used...) == 0 {
		t.Error("memory does not follow the use")
	}
}

func TestWhichMetricsEachModeHas(t *testing.T) {
	both := []string{"DCGM_FI_DEV_DEC_UTIL", "DCGM_FI_DEV_ENC_UTIL", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_USED",
		"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_DEV_SM_CLOCK"}
	for mode, own := range map[config.Mode]string{config.Passthrough: "DCGM_FI_DEV_GPU_TEMP", config.VGPU: "DCGM_FI_DEV_VGPU_LICENSE_STATUS"} {
		want := append([]string{own}, both...)
		slices.Sort(want)
		_, text := scrape(t, mode, theirSocket)
		var got []string
		for _, match := range regexp.MustCompile(`(?m)^# TYPE (\S+) gauge$`).FindAllStringSubmatch(text, -1) {
			got = append(got, match[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", mode, got, want)
		}
	}
}

func TestAScrapeFailsWithoutKubelet(t *testing.T) {
	code, text := scrape(t, config.Passthrough, func(*kubelettest.PodResources) string { return "/does/not/exist.sock" })
	if code != http.StatusInternalServerError || !strings.Contains(text, "/does/not/exist.sock") {
		t.Errorf("%d: %s", code, text)
	}
}

func TestHealthz(t *testing.T) {
	fine, broken := func() error { return nil }, func() error { return errors.New("not registered") }
	for want, checks := range map[int][]func() error{
		http.StatusOK:                 {fine, fine},
		http.StatusServiceUnavailable: {fine, broken},
	} {
		handler, err := Handler(&Collector{}, checks...)
		if err != nil {
			t.Fatal(err)
		}
		code, text := get(t, handler, "/healthz")
		if code != want || want != http.StatusOK && !strings.Contains(text, "not registered") {
			t.Errorf("got %d %q, want %d", code, text, want)
		}
	}
}

func TestServeEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Serve(ctx, "127.0.0.1:0", http.NotFoundHandler()); err != nil {
		t.Error(err)
	}
	if err := Serve(context.Background(), "127.0.0.1:99999", http.NotFoundHandler()); err == nil {
		t.Error("no error for an impossible address")
	}
}
