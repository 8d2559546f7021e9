package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWatchFollowsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	write := func(count string) {
		text := `{"mode":"vgpu","default":{"count":` + count + `,"product":"P","memoryMiB":1000}}`
		// In one step, as kubelet replaces a ConfigMap.
		if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o644), os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
	}
	write("4")
	counts := make(chan int, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- Watch(context.Background(), path, 5*time.Millisecond, func(c Config) { counts <- c.Default.Count })
	}()
	for _, count := range []string{"4", "0", "2"} {
		write(count)
		if got := <-counts; count != string(rune('0'+got)) {
			t.Fatalf("got %d, want %s", got, count)
		}
	}
	time.Sleep(20 * time.Millisecond)
	if len(counts) != 0 {
		t.Error("an unchanged file was reported again")
	}
	write("-1")
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "default.count") {
		t.Errorf("a wrong file ended the watch with %v", err)
	}
}

func TestWatchNeedsTheFile(t *testing.T) {
	err := Watch(context.Background(), filepath.Join(t.TempDir(), "none"), time.Hour, func(Config) {})
	if err == nil || !strings.Contains(err.Error(), "mount the ConfigMap") {
		t.Errorf("got %v", err)
	}
}

func TestWatchEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(sound), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := Watch(ctx, path, time.Hour, func(Config) { cancel() }); err != nil {
		t.Error(err)
	}
}
