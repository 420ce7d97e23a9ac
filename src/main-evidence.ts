/**
 * The composition of the evidence: whom the agent asks whether a config works that is on trial.
 */
import { askCluster } from './evidence/ask-cluster.ts'
import { askRuntime } from './evidence/ask-runtime.ts'
import { ServingProbe } from './evidence/serving-probe.ts'
import { askServing, EvidenceWorker } from './evidence/worker.ts'
import type { ClientIdentity } from './kube/access.ts'
import type { Pace } from './main-pace.ts'
import type { Stores } from './main-stores.ts'
import type { ContainerRuntime } from './ports/container-runtime.ts'
import type { EvidenceProbe } from './ports/evidence.ts'
import type { KubeApi } from './ports/kube-api.ts'
import type { Log } from './ports/log.ts'
import type { Publisher } from './report/publisher.ts'

export interface EvidenceWorld {
  readonly stores: Pick<Stores, 'files' | 'clock' | 'portHolders'>
  readonly nodeName: string
  readonly kubeconfig: ClientIdentity
  /** undefined: assignments come from a directory. */
  readonly api: KubeApi | undefined
  readonly publisher: Publisher | undefined
  readonly runtime: ContainerRuntime
  readonly pace: Pick<Pace, 'sleep'>
  readonly log: Log
  /** Called when an answer differs from the one before. */
  readonly onChange: () => void
}

export function openEvidence({ stores, nodeName, kubeconfig, api, publisher, runtime, pace, log, onChange }: EvidenceWorld): EvidenceProbe {
  const { files, clock, portHolders: holders } = stores
  return new EvidenceWorker({
    askers: {
      ...askCluster(api, nodeName),
      ...askRuntime(runtime, files),
      serving: askServing(new ServingProbe(api === undefined ? NOBODY : kubeconfig), holders, clock),
    },
    publisher,
    clock,
    log,
    sleep: pace.sleep,
    onChange,
  })
}

/** An agent that follows a directory may have no kubeconfig. */
const NOBODY: ClientIdentity = {
  current: () => ({ kind: 'absent', detail: 'assignments come from a directory: no kubeconfig is used' }),
}
