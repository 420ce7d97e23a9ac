#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks each manifest of a config in a directory for each version of kubelet in the fleet:
#   CHECKER=directory sh validate.sh DIRECTORY VERSION...
# CHECKER has the files of an archive of the kubectl plugin. Exits with 1 where a config is refused or
# cannot be judged, and shows each of them first.
set -u
directory=$1
shift
status=0
for file in "$directory"/*.yaml; do
  for version in "$@"; do
    "$CHECKER/node" "$CHECKER/lib/kubelet-cfg-agent.mjs" validate --strict --kubelet-version "$version" "$file" || status=1
  done
done
exit "$status"
