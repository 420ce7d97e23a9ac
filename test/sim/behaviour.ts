// SPDX-License-Identifier: Apache-2.0
/**
 * The behaviour of kubelet with a simulated config. The config says it in a comment; preflight,
 * kubelet and the invariants read it there.
 */
import type { ExitCause } from './sim-journal.ts'

export type Behaviour =
  /** Preflight rejects these two. */
  | 'syntax-error'
  | 'invalid'
  | 'good'
  | 'slow-start'
  /** May be activated on a drained node only. */
  | 'needs-drain'
  /** kubelet answers on another port, or on none. */
  | 'moves-healthz'
  | 'without-healthz'
  /** Names another container runtime, which is up, or which does not exist. */
  | 'moves-runtime'
  | 'moves-to-dead-runtime'
  /** /healthz answers, and the node does not work. Seen where evidence is asked for. */
  | 'loses-lease'
  | 'not-ready'
  | 'breaks-serving'
  /** The harm of these two is not undone by another config. */
  | 'loses-static-pods'
  | 'refuses-pods'
  /** Takes the container runtime down, as long as kubelet runs with it. */
  | 'kills-runtime'
  /** Exits, and what it left on the node keeps kubelet from starting with any other config. */
  | 'leaves-state'
  /** The CPU manager has another policy, on nodes that have one. The second exits, too. */
  | 'static-cpus'
  | 'static-crash'
  /** The machine resets a while after kubelet has started. */
  | 'resets-node'
  | 'crash-at-start'
  | 'crash-later'
  /** Ends without an error, soon after each start. */
  | 'ends-cleanly'
  | 'never-healthy'
  /** Exits more seldom than a trial takes. */
  | 'slow-crash-loop'
  /** So seldom that it never fails. */
  | 'exits-seldom'
  /** A unit of `Type=notify` stays in `activating`. */
  | 'never-ready'
  | 'loses-health'
  | 'fails-after-promotion'
  /** Fails once kubelet is upgraded. */
  | 'good-until-upgrade'

/** `boot`: systemd, when the machine has booted. `systemd`: after an exit. */
export type Starter = 'agent' | 'systemd' | 'person' | 'boot'

export interface SimProcess {
  readonly startedBy: Starter
  readonly configPath: string
  readonly text: string
  /** The kubelet that it was started as: the file on disk may be another one by now. */
  readonly version: number
  readonly startedAtUs: number
  /** The process was frozen for a while. */
  readonly isLate?: boolean
  /** The bytes that it was started with are lost: another version cannot be compared with them. */
  readonly isUntraceable?: boolean
  /** The file that names the health port is lost, too, and nothing recorded the port. */
  readonly isPortLost?: boolean
  /**
   * The knowledge is lost, too, that these bytes are the same config as an earlier wording, by
   * which /run names it.
   */
  readonly isRenamed?: boolean
  /** When it tells systemd that it is ready. */
  readonly readyAtUs: number
  readonly healthyFromUs: number
  readonly unhealthyFromUs: number
  readonly exitsAtUs: number
  /** Why it exits then. */
  readonly cause: ExitCause
}

export type Fate = Pick<SimProcess, 'readyAtUs' | 'healthyFromUs' | 'unhealthyFromUs' | 'exitsAtUs'>

export const NEVER = Number.POSITIVE_INFINITY
export const HEALTHZ_PORT = 10248
const WORDING = /^# wording: .*\n/gm

export function behaviourOf(text: string): Behaviour {
  return (/^# behaviour: (\S+)/m.exec(text)?.[1] ?? 'good') as Behaviour
}

export function configText(behaviour: Behaviour, serial: number): string {
  const head = `# behaviour: ${behaviour}\n# serial: ${serial}\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n`
  if (behaviour === 'syntax-error') return `# behaviour: ${behaviour}\n{0xdeadbeef}${serial}`
  if (behaviour === 'static-cpus' || behaviour === 'static-crash') return `${head}cpuManagerPolicy: static\n`
  return behaviour === 'invalid' ? `${head}kubeAPIQPS: -1\n` : head
}

export function cpuPolicyOf(text: string): 'none' | 'static' {
  return /^cpuManagerPolicy: static$/m.test(text) ? 'static' : 'none'
}

/** The config that kubelet was provisioned with, as the administrator may edit it. */
export function localText(serial: number, base: LocalBase = 'good'): string {
  return `# local\n# base: ${base}\n${configText('good', serial)}`
}

/**
 * The local config as the base of parts: how their results behave, or `unusable`. By itself it is
 * good.
 */
export type LocalBase = Behaviour | 'unusable'

export function baseOf(text: string): LocalBase {
  return (/^# base: (\S+)/m.exec(text)?.[1] ?? 'good') as LocalBase
}

/** undefined: the part is none that can be merged. */
export function mergedText(part: string, local: string): string | undefined {
  if (behaviourOf(part) === 'syntax-error') return undefined
  const base = baseOf(local)
  const head = base === 'good' || base === 'unusable' ? '' : `# behaviour: ${base}\n`
  return `${head}# over: ${/^# serial: (\S+)/m.exec(local)?.[1] ?? ''}\n${part}`
}

/** kubelet decodes both texts to the same config: they differ in the wording alone. */
export function isSameMeaning(a: string, b: string): boolean {
  return meaningOf(a) === meaningOf(b) && behaviourOf(a) !== 'syntax-error'
}

/** The text without what kubelet does not see. */
export function meaningOf(text: string): string {
  return text.replace(WORDING, '')
}

export function withWording(text: string, serial: number): string {
  return `${meaningOf(text)}# wording: ${serial}\n`
}

export function isLocalText(text: string): boolean {
  return text.startsWith('# local\n')
}

/** 0: kubelet answers on no port. */
export function healthzPortOf(text: string): number {
  const behaviour = behaviourOf(text)
  if (behaviour === 'without-healthz') return 0
  return behaviour === 'moves-healthz' ? 10348 : HEALTHZ_PORT
}

export function isRefused(text: string): boolean {
  return ['syntax-error', 'invalid'].includes(behaviourOf(text))
}

const GOOD: readonly Behaviour[] = [
  'good',
  'exits-seldom',
  'static-cpus',
  'slow-start',
  'needs-drain',
  'moves-healthz',
  'without-healthz',
  'moves-runtime',
]

/** Only evidence tells these from good ones. */
export const BREAKING: readonly [Behaviour, ...Behaviour[]] = [
  'loses-lease',
  'not-ready',
  'breaks-serving',
  'loses-static-pods',
  'refuses-pods',
]

/** kubelet is healthy with it, and the node does not work. */
export function breaksNode(text: string): boolean {
  return BREAKING.includes(behaviourOf(text))
}

export function isOneWay(text: string): boolean {
  return ['loses-static-pods', 'refuses-pods'].includes(behaviourOf(text))
}

/** On a node that is well, kubelet becomes healthy with this config and stays so, or nearly. */
export function isGood(text: string, version: number): boolean {
  const behaviour = behaviourOf(text)
  return GOOD.includes(behaviour) || (behaviour === 'good-until-upgrade' && version === 1)
}

/** Before any trial ends. */
const RESETS_AFTER_US = 60e6

/** When the machine resets. */
export function resetUsOf({ text, startedAtUs }: SimProcess): number {
  return behaviourOf(text) === 'resets-node' ? startedAtUs + RESETS_AFTER_US : NEVER
}

/** kubelet exits with every config on a node that is not well. */
export function diesAfter(startedAtUs: number, seconds: number): Fate {
  return { readyAtUs: NEVER, healthyFromUs: NEVER, unhealthyFromUs: NEVER, exitsAtUs: startedAtUs + seconds * 1e6 }
}

export function delayFate({ readyAtUs, healthyFromUs, unhealthyFromUs, exitsAtUs }: Fate, us: number): Fate {
  return {
    readyAtUs: readyAtUs + us,
    healthyFromUs: healthyFromUs + us,
    unhealthyFromUs: unhealthyFromUs + us,
    exitsAtUs: exitsAtUs + us,
  }
}

/** @param version of kubelet; the first is 1 */
export function fateOf(text: string, startedAtUs: number, version: number): Fate {
  const lives = (healthyAfter: number, { unhealthyAfter = NEVER, exitsAfter = NEVER, readyAfter = 1 } = {}): Fate => ({
    readyAtUs: startedAtUs + readyAfter * 1e6,
    healthyFromUs: startedAtUs + healthyAfter * 1e6,
    unhealthyFromUs: startedAtUs + unhealthyAfter * 1e6,
    exitsAtUs: startedAtUs + exitsAfter * 1e6,
  })
  switch (behaviourOf(text)) {
    case 'syntax-error':
    case 'invalid':
      return diesAfter(startedAtUs, 0.2)
    case 'crash-at-start':
      return diesAfter(startedAtUs, 1)
    case 'good-until-upgrade':
      return version > 1 ? diesAfter(startedAtUs, 1) : lives(4)
    case 'good':
    case 'needs-drain':
    case 'moves-healthz':
    case 'moves-runtime':
    case 'moves-to-dead-runtime':
    case 'loses-lease':
    case 'not-ready':
    case 'breaks-serving':
    case 'loses-static-pods':
    case 'refuses-pods':
    case 'resets-node':
    case 'static-cpus':
      return lives(4)
    case 'kills-runtime':
      return lives(4, { exitsAfter: 20 })
    case 'slow-crash-loop':
      return lives(4, { exitsAfter: 130 })
    case 'exits-seldom':
      return lives(4, { exitsAfter: 3 * 3600 })
    // Nobody can see that it takes a while.
    case 'without-healthz':
      return lives(0)
    case 'slow-start':
      return lives(30)
    case 'crash-later':
    case 'ends-cleanly':
    case 'leaves-state':
    case 'static-crash':
      return lives(4, { exitsAfter: 20 })
    case 'never-healthy':
      return lives(NEVER)
    case 'never-ready':
      return lives(NEVER, { readyAfter: NEVER })
    case 'loses-health':
      return lives(4, { unhealthyAfter: 60 })
    case 'fails-after-promotion':
      return lives(4, { unhealthyAfter: 400 })
  }
}
