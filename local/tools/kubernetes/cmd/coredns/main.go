// Command coredns is CoreDNS with the plugins that kubeadm's Corefile names.
// The full plugin set would pull in the SDKs of several clouds.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/coredns/coredns/plugin/template"
)

// The order in which the chain of plugins answers, as upstream's plugin.cfg has it.
var order = []string{
	"reload", "ready", "health", "prometheus", "errors", "log", "cache",
	"loadbalance", "template", "hosts", "kubernetes", "loop", "forward",
}

func init() { dnsserver.Directives = order }

func main() { coremain.Run() }
