/** What of its status the agent writes to its Node, by the names that the setting has for it. Data only. */
export const PUBLICATIONS = ['config', 'condition', 'annotation'] as const
export type Publication = (typeof PUBLICATIONS)[number]
