# Source this from the project's root: tools, state backend and kubeconfig of the local stack.
# The passphrase protects nothing but the throw-away local stack, so it is not a secret.
_root="$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")/.." && pwd)"
case ":$PATH:" in *":$_root/build/bin:"*) ;; *) PATH="$_root/build/bin:$_root/build/venv/bin:$PATH" ;; esac
export PATH
# RUNAI_KIT_CLUSTER names another local cluster, which has its own state.
case "${RUNAI_KIT_CLUSTER:-runai-kit}" in
runai-kit) _state="$_root/build/local" ;;
*) _state="$_root/build/local-$RUNAI_KIT_CLUSTER" ;;
esac
export KUBECONFIG="$_state/kubeconfig"
export PULUMI_BACKEND_URL="file://$_state/pulumi"
export PULUMI_HOME="$_state/pulumi-home"
export PULUMI_CONFIG_PASSPHRASE_FILE="$_root/local/passphrase"
export PULUMI_SKIP_UPDATE_CHECK=true PULUMI_PARALLEL=16
export CONTAINERS_CONF="$_state/containers.conf" KIND_EXPERIMENTAL_PROVIDER=podman
export KIND_EXPERIMENTAL_PODMAN_NETWORK="${RUNAI_KIT_CLUSTER:-runai-kit}"
unset _root _state
