/** The settings of kubelet's unit: its name, how it takes its config, and where systemctl is. Pure. */

import { ALL_COMMANDS, type SettingTable } from './setting.ts'
import { choiceKind, pathKind, serviceKind } from './setting-kinds.ts'

export interface KubeletSettings {
  readonly kubeletUnit: string
  readonly activation: 'auto' | 'env' | 'file'
  readonly systemctl: string
}

const GROUP = 'Kubelet'

export const KUBELET_SETTINGS: SettingTable<KubeletSettings> = {
  kubeletUnit: {
    name: 'kubelet-unit',
    group: GROUP,
    kind: serviceKind,
    initial: 'kubelet.service',
    ...ALL_COMMANDS,
    help: "kubelet's systemd unit",
  },
  activation: {
    name: 'activation',
    group: GROUP,
    kind: choiceKind('auto', 'env', 'file'),
    initial: 'auto',
    ...ALL_COMMANDS,
    help: 'how the unit takes its config: from the env file, or by replacing the file that it spells out; auto asks the unit',
  },
  systemctl: {
    name: 'systemctl',
    group: GROUP,
    kind: pathKind,
    initial: '/usr/bin/systemctl',
    ...ALL_COMMANDS,
    help: 'for unusual systems that keep systemctl elsewhere',
  },
}
