/** The settings of the agent's own files and directories. Pure. */

import type { Policy } from '../decision/policy.ts'
import { ALL_COMMANDS, RUN_ONLY, RUN_ONLY_LIVE, type SettingTable } from './setting.ts'
import { countKind, pathKind, plainPathKind, switchKind } from './setting-kinds.ts'

export interface DiskSettings extends Pick<Policy, 'keepCheckpoints'> {
  readonly dynamicConfigDir: string
  readonly runtimeDir: string
  readonly envFile: string
  readonly adopt: boolean
  readonly config: string
}

const GROUP = 'On disk'

export const DISK_SETTINGS: SettingTable<DiskSettings> = {
  dynamicConfigDir: {
    name: 'dynamic-config-dir',
    group: GROUP,
    kind: plainPathKind,
    initial: '/var/lib/kubelet-cfg-agent',
    ...ALL_COMMANDS,
    help: 'checkpoints, records and history',
  },
  runtimeDir: {
    name: 'runtime-dir',
    group: GROUP,
    kind: pathKind,
    initial: '/run/kubelet-cfg-agent',
    ...ALL_COMMANDS,
    help: 'what is worth knowing only until the next boot',
  },
  envFile: {
    // Not env-file: Node takes that for its own wherever it stands on the command line (nodejs/node issue 54232).
    name: 'kubelet-env-file',
    group: GROUP,
    kind: plainPathKind,
    initial: '/var/lib/kubelet-cfg-agent/kubelet.env',
    ...ALL_COMMANDS,
    help: "the file that the drop-in of kubelet's unit reads: writing it is the activation",
  },
  adopt: {
    name: 'adopt',
    group: GROUP,
    kind: switchKind,
    initial: false,
    ...RUN_ONLY,
    help: 'take over the directory that kubelet itself left (with store/ inside)',
  },
  keepCheckpoints: {
    name: 'keep-checkpoints',
    group: GROUP,
    kind: countKind(1, 1000),
    initial: 10,
    ...RUN_ONLY_LIVE,
    help: 'newest checkpoints kept besides those in use',
  },
  config: {
    name: 'config',
    group: GROUP,
    kind: pathKind,
    initial: '/etc/kubelet-cfg-agent/config.yaml',
    ...ALL_COMMANDS,
    help: 'settings file; need not exist unless it is named',
  },
}
