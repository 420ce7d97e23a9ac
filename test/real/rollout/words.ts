// SPDX-License-Identifier: Apache-2.0
/**
 * The words that people write for a rollout and read of it, as docs/rollout.md has them and not the
 * agent's own code.
 */
export const ROLLOUT_ANNOTATION = 'kubelet-cfg-agent.io/rollout'
export const PLAN_ANNOTATION = 'kubelet-cfg-agent.io/rollout-plan'
export const CANARY_LABEL = 'kubelet-cfg-agent.io/canary'
export const CONTROL_PLANE_LABEL = 'node-role.kubernetes.io/control-plane'

/** The record, read. */
export interface RolloutRecord {
  readonly generation: number
  readonly stage: number
  /** The word of each node in this generation: `claim`, `proof` or `veto`. */
  readonly said: ReadonlyMap<string, { readonly stage: number; readonly word: string }>
}

export function readRecord(data: Readonly<Record<string, string>> = {}): RolloutRecord {
  const [, generation = '0', stage = '0'] = data.state?.split(' ') ?? []
  const said = Object.entries(data).flatMap(([key, value]) => {
    const [of, at = '', word = ''] = value.split(' ')
    return key.startsWith('node.') && of === generation ? [[key.slice('node.'.length), { stage: Number(at), word }] as const] : []
  })
  return { generation: Number(generation), stage: Number(stage), said: new Map(said) }
}

/** How many nodes said that in that stage. */
export function count({ said }: Pick<RolloutRecord, 'said'>, word: 'claim' | 'proof' | 'veto', stage?: number): number {
  return [...said.values()].filter((each) => each.word === word && (stage === undefined || each.stage === stage)).length
}
