/**
 * What the agent can publish, by the names in the settings: the channels of `channels.ts`, and
 * events on a config about its rollout. Names alone, since the settings are read where nothing is
 * published, as in the helper. Pure.
 */
export const PUBLICATIONS = ['config', 'condition', 'annotation', 'label', 'rollout-events'] as const
export type Publication = (typeof PUBLICATIONS)[number]

/** Schedulers, autoscalers and every watch of Nodes act on labels, so it has to be chosen. */
const BY_CHOICE: Publication = 'label'

export const DEFAULT_PUBLICATIONS = PUBLICATIONS.filter((publication) => publication !== BY_CHOICE)
