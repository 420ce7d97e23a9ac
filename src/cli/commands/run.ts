/** `run`: the agent itself, in the foreground, as its unit starts it. The agent is handed in: it is large, and no other command needs it. */
import type { RunCommand } from '../command.ts'

export const runCommand: RunCommand = {
  name: 'run',
  takes: 'all',
  group: 'The agent',
  summary: 'run the agent in the foreground',
  description:
    'Follows what the cluster (or a directory of manifests) assigns to this node: saves it, restarts kubelet with it, promotes what stays ' +
    'healthy and rolls back what fails. Ends on SIGTERM and SIGINT at a safe point, leaving kubelet as it is; rereads settings on SIGHUP.',
  options: [],
  examples: [
    ['run', 'with the settings of /etc/kubelet-cfg-agent/config.yaml'],
    ['run --manifest-dir /etc/kubelet-cfg-agent/manifests', 'without an API server'],
    ['run --trial-duration 30m --spread 10m', 'more careful than by default'],
  ],
  execute: (start, runAgent) => runAgent(start),
}
