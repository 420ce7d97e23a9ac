// SPDX-License-Identifier: Apache-2.0
/**
 * The settings of preflight: which changes of kubelet's config a running node accepts, and how a
 * config is checked. Pure.
 */
import { GUARDS } from '../preflight/guards.ts'
import type { ChangePolicy } from '../preflight/policy/check-policy.ts'
import { changePatternsKind, choiceKind, guardsKind, rowsOf, settingTable, type ValuesOf } from './setting-kinds.ts'

const { RUN_ONLY_LIVE } = rowsOf('Preflight')

export const PREFLIGHT_SETTINGS = settingTable({
  changePolicy: {
    name: 'change-policy',
    kind: choiceKind('open', 'guarded'),
    initial: 'open',
    ...RUN_ONLY_LIVE,
    help:
      'changes that this node accepts: open accepts all; guarded only those of fields that can neither give others control ' +
      'of the node nor cut it off',
  },
  allowChanges: {
    name: 'allow-changes',
    kind: changePatternsKind,
    initial: [],
    ...RUN_ONLY_LIVE,
    initialNote: 'none',
    help: 'exceptions to change-policy: fields, as in maxPods or authentication.*, and risk classes, as in class:reboot',
  },
  denyChanges: {
    name: 'deny-changes',
    kind: changePatternsKind,
    initial: [],
    ...RUN_ONLY_LIVE,
    initialNote: 'none',
    help: 'fields and risk classes that must not change on this node; overrides allow-changes',
  },
  requireDrain: {
    name: 'require-drain',
    kind: changePatternsKind,
    initial: [],
    ...RUN_ONLY_LIVE,
    initialNote: 'none',
    help: 'fields and risk classes that change only while the node is drained',
  },
  guardsOff: {
    name: 'guards-off',
    kind: guardsKind,
    initial: [],
    ...RUN_ONLY_LIVE,
    initialNote: 'none',
    help:
      'guards that only warn instead of refusing a config that would take the node out of the cluster or end what runs on it: ' +
      `${Object.keys(GUARDS).join(', ')}`,
  },
  preflight: {
    name: 'preflight',
    kind: choiceKind('rules', 'load', 'start'),
    initial: 'start',
    ...RUN_ONLY_LIVE,
    help:
      "checks before kubelet gets a config: rules are the agent's own; load has kubelet load it in a sandbox too; start " +
      'also starts kubelet there',
  },
  unknownFields: {
    name: 'unknown-fields',
    kind: choiceKind('warn', 'refuse'),
    initial: 'warn',
    ...RUN_ONLY_LIVE,
    help: 'whether to warn about or refuse a config that contains fields which this kubelet does not know and would ignore',
  },
})

export function toChangePolicy({
  changePolicy,
  allowChanges,
  denyChanges,
  requireDrain,
}: ValuesOf<typeof PREFLIGHT_SETTINGS>): ChangePolicy {
  return { base: changePolicy, allow: allowChanges, deny: denyChanges, requireDrain }
}
