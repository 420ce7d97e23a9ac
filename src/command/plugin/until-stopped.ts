/**
 * An API that asks for nothing more once a signal has come. A command that changes one object after
 * another ends before the next. Pure but for the API.
 */
import { unlessAborted } from '../../kube/unless-aborted.ts'
import type { KubeAnswer, KubeApi } from '../../ports/kube-api.ts'

const STOPPED: KubeAnswer = { kind: 'unreachable', detail: 'stopped by a signal' }

export function untilStopped(api: KubeApi, signal: AbortSignal): KubeApi {
  return {
    async request(request) {
      if (signal.aborted) return STOPPED
      // What a change has come to is worth waiting for.
      return request.method === 'GET' ? ((await unlessAborted(api.request(request), signal)) ?? STOPPED) : api.request(request)
    },
    watch: (request) => api.watch(request),
  }
}
