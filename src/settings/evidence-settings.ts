/**
 * The setting of the evidence: which kinds a trial requires, which are only reported, and which are
 * not asked for. Pure.
 */
import { ALL_REQUIRED, type EvidenceLevel, type EvidencePolicy, OPTIONAL_KINDS, type OptionalKind } from '../evidence/kinds.ts'
import { RUN_ONLY_LIVE, type SettingTable } from './setting.ts'
import { accept, type Kind, refuse } from './setting-kinds.ts'

export interface EvidenceSettings {
  readonly evidence: EvidencePolicy
}

const LEVELS: readonly EvidenceLevel[] = ['required', 'watched', 'off']

/** `lease=watched,pods=off`: what is not named is required. */
export const evidenceKind: Kind<EvidencePolicy> = {
  placeholder: '<kind=level,...>',
  optional: true,
  list: true,
  map: true,
  parse(text) {
    const given = new Map<OptionalKind, EvidenceLevel>()
    for (const item of text === '' ? [] : text.split(',')) {
      const [name = '', value = '', ...rest] = item.split('=').map((part) => part.trim())
      const kind = OPTIONAL_KINDS.find((each) => each === name)
      const level = LEVELS.find((each) => each === value)
      if (kind === undefined) return refuse(`"${name}" is not one of ${OPTIONAL_KINDS.join(', ')}`)
      if (level === undefined || rest.length > 0)
        return refuse(`"${item.trim()}" must be ${name}=LEVEL, where LEVEL is one of ${LEVELS.join(', ')}`)
      if (given.has(kind)) return refuse(`names ${kind} twice`)
      given.set(kind, level)
    }
    return accept({ ...ALL_REQUIRED, ...Object.fromEntries(given) })
  },
  show: (policy) =>
    OPTIONAL_KINDS.filter((kind) => policy[kind] !== 'required')
      .map((kind) => `${kind}=${policy[kind]}`)
      .join(','),
}

export const EVIDENCE_SETTINGS: SettingTable<EvidenceSettings> = {
  evidence: {
    name: 'evidence',
    group: 'Trial and rollback',
    kind: evidenceKind,
    initial: ALL_REQUIRED,
    initialNote: 'all required',
    ...RUN_ONLY_LIVE,
    help: `what a trial must prove: for each of ${OPTIONAL_KINDS.join(', ')} one of required (a no rolls back), watched (a no is only reported), off (not asked); for example lease=watched,pods=off`,
  },
}
