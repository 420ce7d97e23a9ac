/**
 * `run`: the agent in the foreground, as its unit starts it. The agent is passed in: it is large,
 * and no other command needs it.
 */
import type { RunCommand } from '../../command.ts'

export const runCommand: RunCommand = {
  name: 'run',
  takes: 'all',
  group: 'Run',
  summary: 'run the agent in the foreground',
  description:
    'Follows the config that the cluster (or a directory of manifests) assigns to this node: saves it, restarts kubelet ' +
    'with it, promotes it if kubelet stays healthy, and rolls it back if not. SIGTERM and SIGINT end the agent at a safe ' +
    'point and leave kubelet as it is; SIGHUP rereads the settings.',
  options: [],
  examples: [
    ['run', 'use the settings in /etc/kubelet-cfg-agent/config.yaml'],
    ['run --manifest-dir /etc/kubelet-cfg-agent/manifests', 'use manifests instead of an API server'],
    ['run --trial-duration 30m --spread 10m', 'be more careful than the defaults'],
  ],
  execute: (start, runAgent) => runAgent(start),
}
