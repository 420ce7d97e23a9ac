/** What is known of the local config, the base of a part. Types only. */

/** `path` is for messages. */
export type LocalConfigView =
  /** Kubelet's unit is not known, or does not take its config from the agent. */
  | { readonly kind: 'unknown'; readonly detail: string }
  /** `why`: kubelet starts without a config file, or the one that it is told to read is missing. */
  | { readonly kind: 'unusable'; readonly detail: string; readonly why?: 'none' | 'missing' }
  /** `staysBelow`: kubelet merges what the agent gives it over this config. */
  | { readonly kind: 'found'; readonly path: string; readonly text: string; readonly staysBelow?: boolean }

export type ReadLocalConfig = () => LocalConfigView
