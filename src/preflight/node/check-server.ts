/**
 * Warns where a config turns kubelet's server off. Pure. Kubelet runs on and the node stays Ready,
 * and the evidence `serving` is unknown then: nothing else tells what is lost.
 */
import type { NodeProblem, NodeView } from './node-view.ts'

export function checkServer(view: NodeView): NodeProblem[] {
  if (view.running('enableServer') !== true || view.value('enableServer') !== false) return []
  return [
    {
      rule: 'node/server-off',
      severity: 'warn',
      at: 'enableServer',
      problem: `${view.called('enableServer')} false ends logs, exec, attach, port forwarding and metrics of this node, and no evidence shows that`,
      advice: 'keep enableServer: true, unless nothing may ask this kubelet',
    },
  ]
}
