// SPDX-License-Identifier: Apache-2.0
/**
 * The things that the agent can publish, by the names in the settings: the channels of
 * `channels.ts`, and events on a config about its rollout. Names alone, since the settings are read
 * where nothing is published, as in the helper. Pure.
 */
interface Row {
  /** Where it is, for the help of the settings. Absent: its name says so. */
  readonly place?: string
  /** Published only where the settings name it. */
  readonly byChoice?: true
}

const ROWS = {
  config: { place: 'status.config' },
  condition: {},
  annotation: { place: 'kubelet-cfg-agent.io/status' },
  // Schedulers, autoscalers and every watch of Nodes act on labels.
  label: { place: 'kubelet-cfg-agent.io/state', byChoice: true },
  'rollout-events': { place: 'on the config' },
} as const satisfies Readonly<Record<string, Row>>

export type Publication = keyof typeof ROWS
export const PUBLICATIONS = Object.keys(ROWS) as readonly Publication[]
const rowOf = (publication: Publication): Row => ROWS[publication]

export const DEFAULT_PUBLICATIONS = PUBLICATIONS.filter((publication) => rowOf(publication).byChoice !== true)
export const DESCRIBED_PUBLICATIONS: readonly string[] = PUBLICATIONS.map((publication) => {
  const { place } = rowOf(publication)
  return place === undefined ? publication : `${publication} (${place})`
})
