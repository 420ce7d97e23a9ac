/**
 * What kubelet does with a simulated config. The config says it in a comment; preflight, kubelet and
 * the invariants read it there.
 */

export type Behaviour =
  /** Preflight rejects these two. */
  | 'syntax-error'
  | 'invalid'
  | 'good'
  | 'slow-start'
  | 'crash-at-start'
  | 'crash-later'
  | 'never-healthy'
  | 'loses-health'
  | 'fails-after-promotion'
  /** Fails once kubelet is upgraded. */
  | 'good-until-upgrade'

export interface SimProcess {
  readonly configPath: string
  readonly text: string
  readonly startedAtUs: number
  readonly healthyFromUs: number
  readonly unhealthyFromUs: number
  readonly exitsAtUs: number
}

export type Fate = Pick<SimProcess, 'healthyFromUs' | 'unhealthyFromUs' | 'exitsAtUs'>

export const NEVER = Number.POSITIVE_INFINITY

export function behaviourOf(text: string): Behaviour {
  return (/^# behaviour: (\S+)/m.exec(text)?.[1] ?? 'good') as Behaviour
}

export function configText(behaviour: Behaviour, serial: number): string {
  const head = `# behaviour: ${behaviour}\n# serial: ${serial}\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n`
  if (behaviour === 'syntax-error') return `# behaviour: ${behaviour}\n{0xdeadbeef}${serial}`
  return behaviour === 'invalid' ? `${head}kubeAPIQPS: -1\n` : head
}

/** On a node that is well, kubelet becomes healthy with this config and stays so. */
export function isGood(text: string, version: number): boolean {
  const behaviour = behaviourOf(text)
  return ['good', 'slow-start'].includes(behaviour) || (behaviour === 'good-until-upgrade' && version === 1)
}

/** kubelet exits with every config on a node that is not well. */
export function diesAfter(startedAtUs: number, seconds: number): Fate {
  return { healthyFromUs: NEVER, unhealthyFromUs: NEVER, exitsAtUs: startedAtUs + seconds * 1e6 }
}

/** @param version of kubelet; the first is 1 */
export function fateOf(text: string, startedAtUs: number, version: number): Fate {
  const lives = (healthyAfter: number, { unhealthyAfter = NEVER, exitsAfter = NEVER } = {}): Fate => ({
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
      return lives(4)
    case 'slow-start':
      return lives(30)
    case 'crash-later':
      return lives(4, { exitsAfter: 20 })
    case 'never-healthy':
      return lives(NEVER)
    case 'loses-health':
      return lives(4, { unhealthyAfter: 60 })
    case 'fails-after-promotion':
      return lives(4, { unhealthyAfter: 400 })
  }
}
