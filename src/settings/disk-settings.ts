/** The settings of the agent's own files and directories. Pure. */

import { ALL_COMMANDS, countKind, pathKind, plainPathKind, RUN_ONLY, RUN_ONLY_LIVE, settingTable, switchKind } from './setting-kinds.ts'

const GROUP = 'On disk'

export const DISK_SETTINGS = settingTable({
  dynamicConfigDir: {
    name: 'dynamic-config-dir',
    group: GROUP,
    kind: plainPathKind,
    initial: '/var/lib/kubelet-cfg-agent',
    ...ALL_COMMANDS,
    help: 'directory for checkpoints, records and history',
  },
  runtimeDir: {
    name: 'runtime-dir',
    group: GROUP,
    kind: pathKind,
    initial: '/run/kubelet-cfg-agent',
    ...ALL_COMMANDS,
    help: 'directory for state that matters only until the next boot',
  },
  envFile: {
    // Not env-file: Node.js takes that as its own flag anywhere on the command line (nodejs/node
    // issue 54232).
    name: 'kubelet-env-file',
    group: GROUP,
    kind: plainPathKind,
    initial: '/var/lib/kubelet-cfg-agent/kubelet.env',
    ...ALL_COMMANDS,
    help: "environment file that the drop-in of kubelet's unit reads; the agent activates a config by writing it",
  },
  adopt: {
    name: 'adopt',
    group: GROUP,
    kind: switchKind,
    initial: false,
    ...RUN_ONLY,
    help: 'take over a directory that the Dynamic Kubelet Configuration of kubelet itself left behind (it contains store/)',
  },
  keepCheckpoints: {
    name: 'keep-checkpoints',
    group: GROUP,
    kind: countKind(1, 1000),
    initial: 10,
    ...RUN_ONLY_LIVE,
    help: 'number of newest checkpoints to keep besides those in use',
  },
  config: {
    name: 'config',
    group: GROUP,
    kind: pathKind,
    initial: '/etc/kubelet-cfg-agent/config.yaml',
    ...ALL_COMMANDS,
    help: 'settings file; if you name one, it must exist',
  },
})
