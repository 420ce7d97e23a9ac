/**
 * The port for kubelet's `/configz`: the config that a running kubelet says it has. Types only.
 * Composition: `src/main-configz.ts`.
 */

export type ConfigzAnswer =
  | { readonly kind: 'ok'; readonly object: unknown }
  | { readonly kind: 'refused'; readonly by: 'kubelet' | 'api-server'; readonly status: number; readonly detail: string }
  /** What listens there did not prove to be this node's kubelet, and was asked nothing. */
  | { readonly kind: 'unproven'; readonly detail: string }
  | { readonly kind: 'unreachable'; readonly detail: string }
