/**
 * Which node and which cluster the state in the dynamic config directory belongs to. State of
 * another node or cluster is set aside before anything reads it.
 */
import { compareBinding, readBinding, setForeignStateAside, writeBinding } from './checkpoint/binding.ts'
import type { OnSetAside } from './checkpoint/set-aside.ts'
import type { UnitState } from './decision/unit-state.ts'
import type { KubeconfigFile } from './kube/kubeconfig.ts'
import { findNodeName, readMachineHash, type Stores } from './main-stores.ts'
import type { Log } from './ports/log.ts'
import type { Settings } from './settings/settings.ts'

export interface IdentityWorld {
  readonly settings: Settings
  readonly stores: Pick<Stores, 'files' | 'layout' | 'activation'>
  readonly kubeconfig: KubeconfigFile
  readonly onSetAside: OnSetAside
  readonly log: Log
  /** In place of the machine's. */
  readonly hostName?: () => string
}

export interface Identity {
  readonly nodeName: string
  /**
   * Why the state on disk is no longer this node's, or why the node has another name by now: from a
   * kubeconfig that was written later, or since the machine has got its host name. undefined:
   * nothing changed, or that is not known at the moment.
   */
  findChange(): string | undefined
}

/** It may be another one's by now: the records of the agent say where its configs are. */
const ANY_UNIT: UnitState = { kind: 'unknown', detail: 'not asked yet' }

export function openIdentity({ settings, stores, kubeconfig, onSetAside, log, hostName }: IdentityWorld): Identity {
  const { files, layout, activation } = stores
  const sources = { readCredentials: () => kubeconfig.current(), ...(hostName && { hostName }) }
  const nodeName = findNodeName(settings, files, {
    ...sources,
    onUnread: (error) => log.warn('cannot read which node this state belongs to; going by the host name', { error }),
  })

  /**
   * Compares, and records the present identity. Called at the start and repeatedly afterwards:
   * while a certificate authority is rotated, each set of certificates shares one with the set
   * before it, and none with the set before that.
   */
  const isOurs = (): boolean => {
    try {
      const reading = settings.manifestDir === undefined ? kubeconfig.current() : undefined
      if (reading !== undefined && reading.kind !== 'ok') return true
      const kept = readBinding(files, layout)
      const machineHash = readMachineHash(files)
      const caHashes = reading === undefined ? [] : reading.credentials.authorityHashes()
      const binding = { nodeName, caHashes, machineHash: machineHash ?? kept?.machineHash }
      if (compareBinding(kept, binding) === 'foreign') return false
      writeBinding(files, layout, binding)
    } catch (error) {
      log.warn('cannot read or record which node and cluster this state belongs to; trying again later', { error })
    }
    return true
  }
  /** Also true while that is not known. */
  const hasSameName = (): boolean => {
    try {
      // A kubeconfig that cannot be read names no node: the name of its certificate still counts.
      if (settings.manifestDir === undefined && kubeconfig.current().kind !== 'ok') return true
      return findNodeName(settings, files, sources) === nodeName
    } catch (error) {
      log.warn('cannot read how this node is called; trying again later', { error })
      return true
    }
  }

  const resetNextStart = (): boolean => {
    try {
      activation.withdraw('everything', ANY_UNIT, (path, how) => {
        const what = how === 'removed' ? 'was removed' : 'has its original content again'
        log.warn(`${path} ${what}: its config belonged to another node or cluster`)
      })
    } catch (error) {
      // Kubelet can start with it, and an agent that does not start brings no other config.
      log.error('a config of another node or cluster is still in place, since it cannot be taken away', { error })
    }
    try {
      files.remove(`${settings.envFile}.fallback`)
    } catch (error) {
      log.warn('a fallback of another node or cluster cannot be removed; trying again when the next config is activated', { error })
    }
    if (files.stat(settings.envFile) === undefined) return true
    log.error(`${settings.envFile} names a checkpoint, so the checkpoints stay where they are; make that file writable`)
    return false
  }

  if (!isOurs()) {
    setForeignStateAside(files, layout, resetNextStart, onSetAside)
    // Records the binding.
    isOurs()
  }
  return {
    nodeName,
    findChange: () => {
      if (!hasSameName()) return 'the kubeconfig or the host name names another node'
      return isOurs() ? undefined : 'the state belongs to another cluster or machine'
    },
  }
}
