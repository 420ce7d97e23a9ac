/**
 * What the agent can publish, by the names in the settings: the parts of the Node status, a label
 * of the Node, and events on a config about its rollout. Data only.
 */
export const PUBLICATIONS = ['config', 'condition', 'annotation', 'label', 'rollout-events'] as const
export type Publication = (typeof PUBLICATIONS)[number]

/**
 * All but the label. Schedulers, autoscalers and every watch of Nodes act on labels, so a cluster
 * has this one only by choice.
 */
export const DEFAULT_PUBLICATIONS: readonly Publication[] = PUBLICATIONS.filter((publication) => publication !== 'label')
