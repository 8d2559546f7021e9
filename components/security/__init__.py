"""Controls of relaxed and of project namespaces, as plain objects: admission, network, quota."""
