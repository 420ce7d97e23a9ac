/** What a candidate's container runtime tells of itself, for the rules that need it. Types only. */
import type { CgroupDriver, RuntimeFault } from '../../ports/probes.ts'

export interface RuntimeFacts {
  /** undefined: it answers. */
  readonly fault: { readonly why: RuntimeFault; readonly detail: string } | undefined
  /** undefined: unknown. */
  readonly cgroup: RuntimeCgroup | undefined
}

/** `from`: the runtime's answer, which kubelet itself can ask for, or its config file. */
export interface RuntimeCgroup {
  readonly driver: CgroupDriver
  readonly from: 'answer' | 'file'
}
