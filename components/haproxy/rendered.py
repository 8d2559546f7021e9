"""haproxy.cfg: TLS ends here, inference goes to Kourier, workspaces to the Service that their host names."""

from __future__ import annotations

from components.haproxy.inputs import Routes
from components.knative.inputs import KOURIER
from components.knative.inputs import NAMESPACE as SERVING

HTTP, HTTPS, INTERNAL = 8080, 8443, 8404
CERTIFICATES = "/etc/haproxy-certificates"
# Workspaces' Services listen here.
WORKSPACE_PORT = 80
_CLUSTER = "svc.cluster.local"

# do-resolve and the server's address both ask the cluster's DNS, which the pod's resolv.conf names.
_HEAD = """\
global
    log stdout format raw local0 info
    maxconn 4000
    ssl-default-bind-options ssl-min-ver TLSv1.2
    hard-stop-after {wait}s

resolvers cluster
    parse-resolv-conf
    accepted_payload_size 8192
    resolve_retries 3
    timeout resolve 1s
    timeout retry 1s
    hold valid 5s
    hold nx 1s
    hold other 5s

defaults
    mode http
    option dontlognull
    option forwardfor
    option redispatch
    retries 3
    timeout connect 5s
    timeout client {wait}s
    timeout server {wait}s
    timeout queue {wait}s
    timeout tunnel 1h
    timeout http-request 30s
    timeout http-keep-alive 10s
    default-server init-addr none resolvers cluster
"""

_INTERNAL = """
frontend internal
    bind :{internal}
    monitor-uri /healthz
    http-request use-service prometheus-exporter if {{ path /metrics }}
    http-request return status 404

frontend http
    bind :{http}
    http-request redirect scheme https code 301
"""

_FRONT = """
frontend https
    bind :{https} ssl alpn h2,http/1.1 {certificates}
    log global
    # Never the query of a URL: workspaces' tokens stand in it.
    log-format "%ci %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %ts %HM %[var(txn.host)] %HPO"
    http-request set-header X-Forwarded-Proto https
    http-request set-var(txn.host) req.hdr(host),field(1,:),lower
{rules}
    default_backend nothing
"""

_KOURIER = f"""
backend kourier
    http-error status 503 content-type text/plain string "inference: Kourier does not answer\\n"
    server kourier {KOURIER}.{SERVING}.{_CLUSTER}:80
"""

_WORKSPACES = f"""
backend workspaces
    http-request set-var(txn.service) var(txn.name),concat(.,txn.namespace,.{_CLUSTER})
    http-request do-resolve(txn.address,cluster,ipv4) var(txn.service)
    http-request return status 503 content-type text/plain lf-string "workspaces: there is no Service \
%[var(txn.name)] in namespace %[var(txn.namespace)]\\n" unless {{ var(txn.address) -m found }}
    http-request set-dst var(txn.address)
    http-request set-dst-port int({WORKSPACE_PORT})
    http-error status 503 content-type text/plain string "workspaces: the workspace does not answer\\n"
    server workspace 0.0.0.0:0
"""

_NOTHING = """
backend nothing
    http-request return status 503 content-type text/plain string "no service answers at this host\\n"
"""


def render(routes: Routes) -> str:
    """The whole file. A host is looked at from its end: first the longest namespace, so that it is one."""
    uses = ["inference"] * bool(routes.inference) + ["workspaces"]
    certificates = " ".join(f"crt {CERTIFICATES}/{use}.pem" for use in uses)
    rules = [*_workspaces(routes), *([_inference(routes.inference)] if routes.inference else [])]
    return "".join(
        (
            _HEAD.format(wait=routes.wait_seconds),
            _INTERNAL.format(internal=INTERNAL, http=HTTP),
            _FRONT.format(https=HTTPS, certificates=certificates, rules="\n".join(rules)),
            _KOURIER if routes.inference else "",
            _WORKSPACES if routes.namespaces else "",
            _NOTHING,
        )
    )


def _workspaces(routes: Routes) -> list[str]:
    """`<name>-<namespace>.<domain>`: name and namespace, for the first namespace that fits."""
    lines = ["    acl taken var(txn.namespace) -m found"]
    for namespace in sorted(routes.namespaces, key=lambda name: (-len(name), name)):
        end = f"-{namespace}.{routes.workspaces}"
        fits = f"{{ var(txn.host) -m end -- {end} }} !taken"
        pattern = end.replace(".", "[.]")
        lines += [
            f"    http-request set-var(txn.name) var(txn.host),regsub('{pattern}$','') if {fits}",
            f"    http-request set-var(txn.namespace) str({namespace}) if {fits}",
        ]
    # What is left is the name of a Service, one label without a dot.
    name = "{ var(txn.name) -m reg ^[a-z]([-a-z0-9]*[a-z0-9])?$ }"
    return [*lines, f"    use_backend workspaces if taken {name}"] if routes.namespaces else []


def _inference(domain: str) -> str:
    return f"    use_backend kourier if {{ var(txn.host) -m end .{domain} }}"
