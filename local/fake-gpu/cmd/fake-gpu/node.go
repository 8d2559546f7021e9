package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"local/fake-gpu/internal/config"
	"local/fake-gpu/internal/dcgm"
	"local/fake-gpu/internal/deviceplugin"
	fakenode "local/fake-gpu/internal/node"
	"local/fake-gpu/internal/podresources"
	"local/fake-gpu/internal/reservation"
	"local/fake-gpu/internal/state"
	"local/fake-gpu/internal/usage"
)

const (
	configInterval = 2 * time.Second // how often to look at config.json
	kubeletPoll    = time.Second     // how often to look for a restarted kubelet
	usageInterval  = 2 * time.Second // how often to refresh nvidia-smi's readings
	labelRetry     = 2 * time.Second
	patience       = time.Minute // for the API server's first answers
)

// node runs all parts until the context ends or one of them fails.
func node(ctx context.Context, args []string, log *slog.Logger) error {
	opts, err := parseOptions(args)
	if err != nil {
		return err
	}
	rest, err := clientcmd.BuildConfigFromFlags("", opts.kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return err
	}
	devices, err := podresources.NewClient(opts.resources)
	if err != nil {
		return err
	}
	defer devices.Close()

	store := state.New(opts.nodeName, log)
	nodes := fakenode.NewInformer(client, opts.nodeName)
	pods := fakenode.NewPodInformer(client, opts.nodeName)
	if err := fakenode.FollowHealth(nodes, store); err != nil {
		return err
	}
	plugin := &deviceplugin.Plugin{Store: store, Dir: opts.plugins, Poll: kubeletPoll, Log: log}
	labeller := &fakenode.Labeller{
		Client: client, Informer: nodes, Store: store, NodeName: opts.nodeName, Retry: labelRetry, Log: log,
	}
	agent := &reservation.Agent{Client: client, Pods: pods, Devices: devices, Log: log}
	sampler := &usage.Sampler{Store: store, Devices: devices, Pods: pods.GetStore(), Now: time.Now, Log: log}
	publisher := &usage.Publisher{Sampler: sampler, Dir: opts.runDir, Interval: usageInterval, Log: log}
	handler, err := dcgm.Handler(&dcgm.Collector{Sampler: sampler}, store.Healthy, plugin.Healthy, synced("pods", pods.HasSynced))
	if err != nil {
		return err
	}

	log.Info("fake-gpu", "version", version, "node", opts.nodeName)
	group, ctx := errgroup.WithContext(ctx)
	start := func(name string, run func(context.Context) error) {
		group.Go(func() error {
			err := run(ctx)
			if err == nil && ctx.Err() == nil {
				err = fmt.Errorf("%s: ended without being asked to", name)
			}
			return err
		})
	}
	start("config", func(ctx context.Context) error {
		return config.Watch(ctx, opts.config, configInterval, store.SetConfig)
	})
	start("node", func(ctx context.Context) error {
		return fakenode.RunInformer(ctx, nodes, "node "+opts.nodeName, patience)
	})
	start("pods", func(ctx context.Context) error { return fakenode.RunInformer(ctx, pods, "pods", patience) })
	start("device plugin", plugin.Run)
	start("labels", labeller.Run)
	start("reservation agent", agent.Run)
	start("node file", publisher.Run)
	start("metrics", func(ctx context.Context) error { return dcgm.Serve(ctx, opts.address, handler) })
	return group.Wait()
}

func synced(what string, hasSynced func() bool) func() error {
	return func() error {
		if hasSynced() {
			return nil
		}
		return fmt.Errorf("%s: not read from the API server yet", what)
	}
}
