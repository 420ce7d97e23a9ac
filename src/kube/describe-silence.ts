/**
 * What to say of a request that got no answer that can be used. Pure. The texts are fixed, since
 * the detail may contain a file of the node, an address or the output of a program.
 */
import type { KubeSilence } from '../ports/kube-api.ts'

export const SILENCE_TEXTS: Readonly<Record<'unreachable' | NonNullable<KubeSilence['reason']>, string>> = {
  unreachable: 'the API server does not answer',
  'too-long': 'the answer of the API server is too long',
  kubeconfig: 'there is no usable kubeconfig',
}

export function describeSilence({ reason }: KubeSilence): string {
  return SILENCE_TEXTS[reason ?? 'unreachable']
}
