/**
 * What each reason of the condition means and what to do about it, as `docs/operations.md` says
 * it, for a person who has kubectl. Data only.
 */
import type { ConditionReason } from '../report/node-conditions.ts'

export interface Advice {
  readonly means: string
  readonly todo: string
}

const JOURNAL = 'On the node, "journalctl -u kubelet-cfg-agent" says more.'
const WIRING = 'Run "kubelet-cfg-agent check" on the node: it says what is wrong and what to do.'
/** The check finds nothing here: kubelet's unit looks right. */
const INEFFECTIVE =
  'On the node, compare /proc/PID/cmdline of kubelet with what "systemctl cat kubelet" starts: a wrapper, or a --config that comes later, decides. Correct it, then run "systemctl daemon-reload" and "systemctl restart kubelet": the agent does not restart it again.'
const DISK = `The agent tries again. If it stays, check the disk of the node for space and errors. ${JOURNAL}`

export const ADVICE: Readonly<Record<ConditionReason, Advice>> = {
  Promoted: { means: 'kubelet runs the assigned config, which has passed its trial on this node.', todo: 'Nothing.' },
  Local: {
    means: 'Nothing is assigned: kubelet runs its local config.',
    todo: 'Nothing. If you did assign a config, check the name of the label, and which channels the agent has on (--channels).',
  },
  InTrial: {
    means: 'kubelet runs the assigned config, which has not passed its trial yet.',
    todo: 'Wait. If the message says that the trial does not come to an end, find out why kubelet is not healthy for long enough.',
  },
  AssignmentUnknown: {
    means: 'The agent cannot read the assignment. What it read last stands.',
    todo: 'Check that the node reaches the API server, its kubeconfig, and the rights of its identity.',
  },
  KubeletUnknown: {
    means: 'The agent cannot tell what kubelet does.',
    todo: 'Run "kubelet-cfg-agent check" on the node. Check systemd and the disk. If the message names a process that has a port of kubelet, end that process.',
  },
  NotPublished: {
    means: 'The agent is set not to publish this condition.',
    todo: 'Add condition to the setting publish of the agent if you want it.',
  },
  Waiting: {
    means: 'The node waits for its turn, in the spread or in a rollout.',
    todo: 'Wait. In a rollout, "kubectl kubelet-config rollout status NAME" shows how far it has come.',
  },
  Preflight: { means: 'The config is being checked on the node.', todo: 'Wait.' },
  Draining: {
    means: 'The config changes fields that may change only on a drained node.',
    todo: 'Run "kubectl drain NODE --ignore-daemonsets", and "kubectl uncordon NODE" when the state is InTrial, Promoted, RolledBack or Refused. While it is Draining, Waiting or Restarting, the change is still to come.',
  },
  Restarting: {
    means: 'kubelet is starting or stopping, or started some seconds ago.',
    todo: "Wait. If the node itself is paused, resume: that keeps what fails from being rolled back. Where nothing is assigned, kubelet and its config are the administrator's, and the agent does not restart it, except to complete a return to local that it began.",
  },
  Unhealthy: {
    means: 'kubelet runs the assigned config, or its local one where nothing is assigned, and is not healthy or has exited several times.',
    todo: 'Look at kubelet\'s log: "journalctl -u kubelet" on the node. Where kubelet is not healthy for a minute with an assigned config, the agent restarts it once with that, then goes back to another. Where nothing is assigned, kubelet and its config are the administrator\'s, and the agent restarts nothing. A kubelet that exits now and then stays with its config: nothing changes by itself. If the message names a pause, nothing is rolled back until you resume the node.',
  },
  KubeletStopped: { means: 'kubelet was stopped with systemd, and stays stopped.', todo: 'Start kubelet. It then uses what is assigned.' },
  RuntimeDown: {
    means: 'The container runtime does not answer, so kubelet would not come back from a restart.',
    todo: 'Start the container runtime on the node. The agent waits for it for at most 10 minutes; then kubelet is restarted all the same.',
  },
  Invalid: {
    means: 'What assigns a config cannot be used. The node stays as it is.',
    todo: 'Correct what the message names: the label, annotation or selector, the part, or the overlay on the node.',
  },
  DownloadFailed: {
    means: 'The ConfigMap cannot be read. The node stays as it is.',
    todo: 'Create the ConfigMap, or grant the node the right to get it by name (deploy/rbac/node-configmaps.yaml).',
  },
  InternalError: { means: 'The agent cannot write its state, or a record was damaged.', todo: DISK },
  CheckpointMissing: { means: 'The saved copy of the assigned config is not whole on the disk of the node.', todo: DISK },
  Refused: {
    means: 'Preflight refused the config before a restart. What ran before goes on.',
    todo: 'Correct the ConfigMap: the new content is checked at once. Or correct the node, and run "kubelet-cfg-agent retry" on it.',
  },
  RolledBack: {
    means: 'kubelet failed with the config, or an operator rolled it back.',
    todo: 'Find the cause in kubelet\'s log, from the time of the trial. If it is the config, correct the ConfigMap: the new content gets a trial of its own. If it was elsewhere, correct that and run "kubelet-cfg-agent retry" on the node.',
  },
  NodeAtFault: {
    means: 'kubelet fails with every config, so the agent blames the node and condemns no config.',
    todo: "Repair the node: the container runtime, certificates, disk, memory, kubelet's binary and flags. The agent tries again by itself.",
  },
  Paused: {
    means: 'An operator paused the node or the config.',
    todo: 'Remove the annotation kubelet-cfg-agent.io/paused, or run "kubelet-cfg-agent resume" on the node: the message says which. A pause of the node keeps a failing config from being rolled back.',
  },
  HeldLocal: { means: 'An operator ran "kubelet-cfg-agent reset" on the node.', todo: 'Run "kubelet-cfg-agent resume" on the node.' },
  Wiring: { means: "kubelet's unit does not take its config from the agent.", todo: WIRING },
  Ineffective: { means: 'kubelet was restarted and still runs another config.', todo: INEFFECTIVE },
  RestartLimit: {
    means: 'kubelet was restarted too often within an hour.',
    todo: 'Find out what changes the config so often. The wait ends by itself.',
  },
}

/** undefined: an agent of another version wrote this reason. */
export function adviceOn(reason: string): Advice | undefined {
  return Object.entries(ADVICE).find(([known]) => known === reason)?.[1]
}
