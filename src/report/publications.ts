/**
 * What the agent can publish, by the names in the settings: the parts of the Node status, and
 * events on a config about its rollout. Data only.
 */
export const PUBLICATIONS = ['config', 'condition', 'annotation', 'rollout-events'] as const
export type Publication = (typeof PUBLICATIONS)[number]
