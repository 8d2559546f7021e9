// Package state holds the current GPUs of this node for all parts of the agent.
package state

import (
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"

	"local/fake-gpu/internal/config"
	"local/fake-gpu/internal/gpu"
)

// Store joins the configuration and the health annotation into the node's current GPUs.
// The GPUs are not known until both have been set once.
type Store struct {
	name string
	log  *slog.Logger

	mu          sync.Mutex
	cfg         *config.Config
	unhealthy   *string
	ignored     []string
	node        gpu.Node
	known       bool
	subscribers map[chan struct{}]bool
}

// New returns an empty store for the named node.
func New(name string, log *slog.Logger) *Store {
	return &Store{name: name, log: log, subscribers: map[chan struct{}]bool{}}
}

// SetConfig takes a new configuration.
func (s *Store) SetConfig(cfg config.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg = &cfg
	s.update()
}

// SetUnhealthy takes the value of the node annotation gpu.UnhealthyAnnotation, "" when there is none.
func (s *Store) SetUnhealthy(list string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unhealthy = &list
	s.update()
}

// Node returns the current GPUs, and false as long as they are not known.
func (s *Store) Node() (gpu.Node, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.node, s.known
}

// Healthy returns an error as long as the GPUs are not known.
func (s *Store) Healthy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known {
		return nil
	}
	return fmt.Errorf("GPUs not known yet: configuration read %t, node %s found in the API %t", s.cfg != nil, s.name, s.unhealthy != nil)
}

// Subscribe returns a channel that receives one value at once when the node is known, and one after each change;
// changes in quick succession may be joined. The returned function ends the subscription.
func (s *Store) Subscribe() (<-chan struct{}, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changes := make(chan struct{}, 1)
	s.subscribers[changes] = true
	if s.known {
		changes <- struct{}{}
	}
	return changes, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.subscribers, changes)
	}
}

// update must be called with the lock held.
func (s *Store) update() {
	if s.cfg == nil || s.unhealthy == nil {
		return
	}
	node, ignored := gpu.NewNode(s.name, *s.cfg).WithUnhealthy(*s.unhealthy)
	if len(ignored) > 0 && !slices.Equal(ignored, s.ignored) {
		s.log.Warn("entries of the node annotation name no GPU of this node and are ignored: use indices or UUIDs",
			"annotation", gpu.UnhealthyAnnotation, "ignored", ignored, "gpus", len(node.GPUs))
	}
	s.ignored = ignored
	if s.known && reflect.DeepEqual(node, s.node) {
		return
	}
	s.node, s.known = node, true
	s.log.Info("GPUs of this node", "count", len(node.GPUs), "mode", node.Mode, "product", node.Product, "unhealthy", *s.unhealthy)
	for changes := range s.subscribers {
		select {
		case changes <- struct{}{}:
		default: // a change is already waiting to be seen
		}
	}
}
