/**
 * The settings of kubelet's unit: its name, how it takes its config, and where systemctl and
 * the system bus are. Pure.
 */

import { ACTIVATION_KINDS } from '../systemd/activation-kinds.ts'
import { ALL_COMMANDS, choiceKind, optional, pathKind, RUN_ONLY, serviceKind, settingTable } from './setting-kinds.ts'

const GROUP = 'Kubelet'

export const KUBELET_SETTINGS = settingTable({
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
    kind: choiceKind('auto', ...ACTIVATION_KINDS),
    initial: 'auto',
    ...ALL_COMMANDS,
    help:
      'how kubelet gets a config: env writes the environment file; file replaces the file that the unit names; ' +
      'drop-in adds a file to its --config-dir (kubelet 1.32 or later); auto chooses env or file by the unit',
  },
  kubeletConfigDir: {
    name: 'kubelet-config-dir',
    group: GROUP,
    kind: optional(pathKind),
    initial: undefined,
    initialNote: 'none; --config-dir in the unit counts',
    ...ALL_COMMANDS,
    help: "directory of kubelet's drop-ins, for activation drop-in where kubelet is a part of k3s, whose unit does not name it",
  },
  systemctl: {
    name: 'systemctl',
    group: GROUP,
    kind: pathKind,
    // Where /bin is no link to /usr/bin, systemctl is in /bin.
    initial: '/bin/systemctl',
    ...ALL_COMMANDS,
    help: 'path of systemctl',
  },
  systemBus: {
    name: 'system-bus',
    group: GROUP,
    kind: pathKind,
    initial: '/run/dbus/system_bus_socket',
    ...RUN_ONLY,
    help: "socket of D-Bus's system bus, on which systemd says what happens to kubelet's unit; without one, systemctl is asked more often",
  },
})
