/** The settings of what the agent reports: on its Node, as metrics and in its log. Pure. */

import { DEFAULT_PUBLICATIONS } from '../report/channels.ts'
import {
  choiceKind,
  listenAddressKind,
  optional,
  publicationsKind,
  RUN_ONLY,
  RUN_ONLY_LIVE,
  settingTable,
  textfileKind,
} from './setting-kinds.ts'

const GROUP = 'Reports'

export const REPORT_SETTINGS = settingTable({
  publish: {
    name: 'publish',
    group: GROUP,
    kind: publicationsKind,
    initial: DEFAULT_PUBLICATIONS,
    ...RUN_ONLY_LIVE,
    help: 'what the agent publishes, any of config (status.config), condition, annotation, label (kubelet-cfg-agent.io/state), rollout-events (on the config); empty: nothing',
  },
  metricsAddress: {
    name: 'metrics-address',
    group: GROUP,
    kind: optional(listenAddressKind),
    initial: { host: '127.0.0.1', port: 10270 },
    ...RUN_ONLY,
    help: 'address that serves /metrics, /healthz and /readyz; empty: off',
  },
  metricsTextfile: {
    name: 'metrics-textfile',
    group: GROUP,
    kind: optional(textfileKind),
    initial: undefined,
    ...RUN_ONLY,
    initialNote: 'none',
    help: 'write the metrics to this file too, for the textfile collector of the node exporter; its name ends in .prom',
  },
  logLevel: {
    name: 'log-level',
    group: GROUP,
    kind: choiceKind('debug', 'info', 'warn', 'error'),
    initial: 'info',
    ...RUN_ONLY_LIVE,
    help: 'lowest severity that is logged',
  },
  logFormat: {
    name: 'log-format',
    group: GROUP,
    kind: choiceKind('auto', 'json', 'text'),
    initial: 'auto',
    ...RUN_ONLY,
    help: 'format of the log; auto writes text to the journal and to a terminal, and JSON elsewhere',
  },
})
