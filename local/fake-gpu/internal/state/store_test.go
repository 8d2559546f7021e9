package state

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"local/fake-gpu/internal/config"
)

func cfg(count int) config.Config {
	return config.Config{Mode: config.Passthrough, Default: config.GPUs{Count: count, Product: "P", MemoryMiB: 1000}}
}

func TestStoreKnowsTheNodeWhenBothSourcesSpoke(t *testing.T) {
	store := New("n", slog.New(slog.DiscardHandler))
	changes, unsubscribe := store.Subscribe()
	defer unsubscribe()
	store.SetConfig(cfg(4))
	if _, known := store.Node(); known || len(changes) != 0 || store.Healthy() == nil {
		t.Fatal("known before the health annotation was read: an unhealthy GPU would be offered for a moment")
	}
	store.SetUnhealthy("1")
	node, known := store.Node()
	if !known || len(node.GPUs) != 4 || node.GPUs[1].Healthy || len(changes) != 1 || store.Healthy() != nil {
		t.Errorf("got %+v, known %v, %d notices", node, known, len(changes))
	}
}

func TestStoreTellsChangesOnly(t *testing.T) {
	store := New("n", slog.New(slog.DiscardHandler))
	store.SetConfig(cfg(2))
	store.SetUnhealthy("")
	changes, unsubscribe := store.Subscribe()
	<-changes // the state at the time of subscribing
	steps := []struct {
		do   func()
		want int
	}{
		{func() { store.SetUnhealthy("") }, 0},
		{func() { store.SetUnhealthy("bad") }, 0},
		{func() { store.SetConfig(cfg(3)) }, 1},
		{func() { store.SetUnhealthy("2"); store.SetConfig(cfg(0)) }, 1},
	}
	for i, step := range steps {
		step.do()
		if len(changes) != step.want {
			t.Errorf("step %d: %d notices, want %d", i, len(changes), step.want)
		}
		for len(changes) > 0 {
			<-changes
		}
	}
	unsubscribe()
	store.SetConfig(cfg(1))
	if len(changes) != 0 {
		t.Error("told after unsubscribing")
	}
}

func TestStoreLogsIgnoredEntriesOnce(t *testing.T) {
	var text bytes.Buffer
	store := New("n", slog.New(slog.NewTextHandler(&text, nil)))
	store.SetConfig(cfg(2))
	store.SetUnhealthy("0,7,none")
	store.SetUnhealthy("0,7,none")
	if got := strings.Count(text.String(), "ignored="); got != 1 || !strings.Contains(text.String(), "[7 none]") {
		t.Errorf("logged %d times: %s", got, text.String())
	}
}
