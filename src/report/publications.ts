/**
 * The parts of the Node status that the agent can publish, by their names in the settings. Data
 * only.
 */
export const PUBLICATIONS = ['config', 'condition', 'annotation'] as const
export type Publication = (typeof PUBLICATIONS)[number]
