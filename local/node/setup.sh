#!/bin/bash
# Runs once in the build container: units, links and containerd's base specification as
# kind's node base image has them, then the import of the container images.
set -euo pipefail
shopt -s nullglob

chmod 755 /kind /kind/bin /kind/bin/* /usr/local/bin/* /usr/bin/kube*
find /lib/systemd/system/sysinit.target.wants/ -name systemd-tmpfiles-setup.service -delete
rm -f /lib/systemd/system/multi-user.target.wants/* /etc/systemd/system/*.wants/* \
  /lib/systemd/system/local-fs.target.wants/* /lib/systemd/system/sockets.target.wants/*udev* \
  /lib/systemd/system/sockets.target.wants/*initctl* /lib/systemd/system/basic.target.wants/*
echo ReadKMsg=no >> /etc/systemd/journald.conf
ln -sf /lib/systemd/systemd /sbin/init
ln -sf /usr/bin/containerd /usr/local/bin/containerd
systemctl enable kubelet.service containerd.service undo-mount-hacks.service
systemctl mask systemd-binfmt.service

mkdir -p /etc/kubernetes/manifests /opt/cni/bin
ln -sf /usr/lib/cni/* /opt/cni/bin/
# As in kind's image: product files for each container, no limits that a nested node cannot set.
ctr oci spec \
  | jq '.hooks.createContainer += [{"path": "/kind/bin/mount-product-files.sh"}] | del(.process.rlimits)' \
  > /etc/containerd/cri-base.json

containerd > /tmp/containerd.log 2>&1 &
pid=$!
for _ in $(seq 100); do
  ctr version > /dev/null 2>&1 && break
  sleep 0.1
done
# Unpacking is left to the first start on the node's own disk.
for archive in /images/*.tar; do
  ctr -n k8s.io images import --no-unpack "$archive"
done
kill "$pid"
wait "$pid" || echo "containerd ended"
rm -f /tmp/containerd.log
