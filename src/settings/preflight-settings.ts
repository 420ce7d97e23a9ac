/** The settings of preflight: which changes of its config a live node takes, and how they are judged. Pure; a part of the table of `settings.ts`. */
import type { BasePolicy, ChangePolicy } from '../preflight/policy/check-policy.ts'
import { RUN_ONLY_LIVE, type SettingTable } from './setting.ts'
import { changePatternsKind, choiceKind } from './setting-kinds.ts'

export interface PreflightSettings {
  readonly changePolicy: BasePolicy
  readonly allowChanges: readonly string[]
  readonly denyChanges: readonly string[]
  readonly requireDrain: readonly string[]
  readonly unknownFields: 'warn' | 'refuse'
  readonly preflight: 'rules' | 'load' | 'start'
}

const GROUP = 'Preflight'

export const PREFLIGHT_SETTINGS: SettingTable<PreflightSettings> = {
  changePolicy: {
    name: 'change-policy',
    group: GROUP,
    kind: choiceKind('open', 'guarded'),
    initial: 'open',
    ...RUN_ONLY_LIVE,
    help: "which changes of kubelet's config a live node takes: any, or none that can hand the node over, cut it off, or need a reboot",
  },
  allowChanges: {
    name: 'allow-changes',
    group: GROUP,
    kind: changePatternsKind,
    initial: [],
    ...RUN_ONLY_LIVE,
    initialNote: 'none',
    help: 'exceptions from change-policy: fields, as in maxPods or authentication.*, and risks, as in class:reboot',
  },
  denyChanges: {
    name: 'deny-changes',
    group: GROUP,
    kind: changePatternsKind,
    initial: [],
    ...RUN_ONLY_LIVE,
    initialNote: 'none',
    help: 'fields and risks that never change on this node, whatever else allows them',
  },
  requireDrain: {
    name: 'require-drain',
    group: GROUP,
    kind: changePatternsKind,
    initial: [],
    ...RUN_ONLY_LIVE,
    initialNote: 'none',
    help: 'fields and risks that the node has to be drained for',
  },
  preflight: {
    name: 'preflight',
    group: GROUP,
    kind: choiceKind('rules', 'load', 'start'),
    initial: 'start',
    ...RUN_ONLY_LIVE,
    help: "how far a config is checked before kubelet gets it: by the agent's own rules, by kubelet loading it in a sandbox too, or by kubelet starting there",
  },
  unknownFields: {
    name: 'unknown-fields',
    group: GROUP,
    kind: choiceKind('warn', 'refuse'),
    initial: 'warn',
    ...RUN_ONLY_LIVE,
    help: 'what becomes of a config with fields that this kubelet does not know and would ignore',
  },
}

export function toChangePolicy({ changePolicy, allowChanges, denyChanges, requireDrain }: PreflightSettings): ChangePolicy {
  return { base: changePolicy, allow: allowChanges, deny: denyChanges, requireDrain }
}
