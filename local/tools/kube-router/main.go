// Command kube-router is the network policy controller of kube-router and nothing else of it, as K3s
// uses it, too: iptables and sets of addresses on its node follow the NetworkPolicies.
// The router and the service proxy would pull in BGP, Docker and the SDK of a cloud.
package main

import (
	"context"
	"os/signal"
	"sync"
	"syscall"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// healthPort answers /healthz, with 500 when the rules have not been renewed for too long.
const healthPort = 20244

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx); err != nil {
		klog.Exitf("network policies are not enforced: %v", err)
	}
}

// run enforces until the context ends, and then takes its rules back: a node without this program is open.
func run(ctx context.Context) error {
	config := options.NewKubeRouterConfig()
	config.RunFirewall, config.EnableIPv4, config.HealthPort = true, true, healthPort
	controller, cleaner, err := connect(ctx, config)
	if err != nil {
		return err
	}
	health, err := healthcheck.NewHealthController(config)
	if err != nil {
		return err
	}
	beats := make(chan *healthcheck.ControllerHeartbeat, 10)
	health.SetAlive()
	var running sync.WaitGroup
	running.Add(3)
	go health.RunServer(ctx.Done(), &running)
	go health.RunCheck(beats, ctx.Done(), &running)
	go controller.Run(beats, ctx.Done(), &running)
	running.Wait()
	cleaner.Cleanup()
	return nil
}

// connect returns the controller, fed by the API server with pods, namespaces and policies, and one for the
// clean-up, which appends to the table that a running controller has read.
func connect(
	ctx context.Context, config *options.KubeRouterConfig,
) (controller, cleaner *netpol.NetworkPolicyController, err error) {
	access, err := rest.InClusterConfig()
	if err != nil {
		return nil, nil, err
	}
	client, err := kubernetes.NewForConfig(access)
	if err != nil {
		return nil, nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	tables, sets, err := netpol.NewIPTablesHandlers(config)
	if err != nil {
		return nil, nil, err
	}
	for _, made := range []**netpol.NetworkPolicyController{&controller, &cleaner} {
		*made, err = netpol.NewNetworkPolicyController(
			client, config, pods, policies, namespaces, &sync.Mutex{}, tables, sets)
		if err != nil {
			return nil, nil, err
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods:       controller.PodEventHandler,
		namespaces: controller.NamespaceEventHandler,
		policies:   controller.NetworkPolicyEventHandler,
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, nil, err
		}
	}
	return controller, cleaner, nil
}
