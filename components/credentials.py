"""A kubeconfig's credentials in memory: no key file outlives its use.

The Kubernetes client writes certificate and private key into the temp folder and removes them when the
interpreter ends. Ansible's workers end without that, so the keys would stay.
"""

from __future__ import annotations

import ssl
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kubernetes import client
from kubernetes.config import kube_config as _kube_config

# The client's stubs leave these functions untyped.
_files: Any = _kube_config
# The client remembers for the whole process what it wrote where: another thread's folder would be named.
_loading = threading.Lock()


@contextmanager
def with_files(kubeconfig: str, context: str) -> Iterator[client.Configuration]:
    """A configuration whose files lie, until the `with` ends, in a folder that only we can read.

    `kubeconfig` "" is the user's default. Raises ConfigException and OSError.
    """
    with tempfile.TemporaryDirectory(prefix="runai-kit-") as folder:
        configuration = client.Configuration()
        with _loading:
            _files._temp_files.clear()
            _files.load_kube_config(
                kubeconfig or None, context, client_configuration=configuration, temp_file_path=folder
            )
        yield configuration


def load(kubeconfig: str, context: str) -> tuple[client.Configuration, ssl.SSLContext]:
    """A configuration without files, and the TLS context that holds their contents.

    Raises ConfigException, and OSError (ssl.SSLError is one) for a certificate or key that is none.
    """
    with with_files(kubeconfig, context) as configuration:
        files: Any = configuration
        tls = ssl.create_default_context(cafile=files.ssl_ca_cert)
        if files.cert_file:
            tls.load_cert_chain(files.cert_file, files.key_file)
    files.ssl_ca_cert = files.cert_file = files.key_file = None
    return configuration, tls


def api_client(configuration: client.Configuration, tls: ssl.SSLContext) -> client.ApiClient:
    """The client's own API object on such a context."""
    api = client.ApiClient(configuration)
    pool: Any = api.rest_client.pool_manager
    pool.connection_pool_kw["ssl_context"] = tls
    return api
