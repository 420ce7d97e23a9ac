// SPDX-License-Identifier: Apache-2.0
/**
 * Parses the metrics of kube-apiserver (Prometheus' text format): Go's memory statistics and the
 * open watches. Pure.
 */
export interface ServerGauges {
  readonly liveHeapBytes: number
  readonly stackBytes: number
  readonly goroutines: number
  /** The open watches, including the server's own. */
  readonly watches: { readonly nodes: number; readonly configmaps: number }
}

export function readGauges(metrics: string): ServerGauges {
  const plain = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN)
  const watches = (resource: string): number => {
    const lines = metrics.split('\n').filter((line) => line.startsWith('apiserver_longrunning_gauge{'))
    // With any verb: for a watch of one Node it is GET.
    const ours = lines.filter((line) => line.includes(`,resource="${resource}",`) && line.includes('subresource=""'))
    return ours.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  }
  return {
    liveHeapBytes: plain('go_memstats_heap_alloc_bytes'),
    stackBytes: plain('go_memstats_stack_inuse_bytes'),
    goroutines: plain('go_goroutines'),
    watches: { nodes: watches('nodes'), configmaps: watches('configmaps') },
  }
}
