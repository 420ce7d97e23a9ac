// SPDX-License-Identifier: Apache-2.0
/**
 * Which node and which cluster the state in the dynamic config directory belongs to. State of
 * another node or cluster is set aside before anything reads it. Pure; what reads the machine is
 * passed in.
 */
import { createHash } from 'node:crypto'
import { chooseGuessedName, compareBinding, readBinding, setForeignStateAside, writeBinding } from '../checkpoint/binding.ts'
import { type Layout, layoutOf } from '../checkpoint/layout.ts'
import type { OnSetAside } from '../checkpoint/set-aside.ts'
import type { ClientIdentity } from '../kube/access.ts'
import type { Activation } from '../ports/activation.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import type { Settings } from '../settings/settings.ts'
import type { KnownUnit, UnitState } from '../subject/unit-state.ts'
import { asArguments, flagValue } from '../systemd/command-line.ts'
import { isObjectName } from '../values/kubernetes-names.ts'

type NameSettings = Pick<Settings, 'nodeName' | 'manifestDir' | 'dynamicConfigDir'>

/** Where the name of the node comes from, besides the settings and the state on disk. */
interface NameSources {
  hostName(): string
  readonly kubeconfig: ClientIdentity
  /** As it was seen last. */
  kubelet(): UnitState
  /** The state on disk then counts as none. Without this function, the error is thrown. */
  readonly onUnread?: (error: unknown) => void
}

interface IdentityParts extends Omit<NameSources, 'onUnread'> {
  readonly settings: NameSettings & Pick<Settings, 'envFile'>
  readonly stores: { readonly files: Files; readonly layout: Layout; readonly activation: Pick<Activation, 'withdraw'> }
  readonly onSetAside: OnSetAside
  readonly log: Log
}

interface Identity {
  readonly nodeName: string
  /**
   * Why the state on disk is no longer this node's, or why the node has another name by now: from a
   * kubeconfig that was written later, or since the machine has got its host name. undefined:
   * nothing changed, or that is not known at the moment.
   */
  findChange(): string | undefined
}

/**
 * Stands for the unit, which may be another one by now: the records of the agent say where its
 * configs are.
 */
export const ANY_UNIT: UnitState = { kind: 'unknown', detail: 'not asked yet' }

const MACHINE_ID = '/etc/machine-id'

export function openIdentity({ settings, stores, kubeconfig, kubelet, onSetAside, log, hostName }: IdentityParts): Identity {
  const { files, layout, activation } = stores
  const sources = { kubeconfig, kubelet, hostName }
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
      // While kubelet is not known, which may call the node otherwise, the host name binds nothing.
      const isGuess = kubelet().kind === 'unknown' && findCertainName(settings, kubeconfig) === undefined
      if (kept !== undefined || !isGuess) writeBinding(files, layout, binding)
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
      if (!hasSameName()) return "the kubeconfig, kubelet's flag or the host name names another node"
      return isOurs() ? undefined : 'the state belongs to another cluster or machine'
    },
  }
}

/**
 * The host name is only a guess (early at boot it can be `localhost`), so the node's name in the
 * state on disk goes before it, where this machine wrote that.
 */
export function findNodeName(settings: NameSettings, files: Files, { hostName, kubeconfig, kubelet, onUnread }: NameSources): string {
  const kept = () => {
    try {
      return readBinding(files, layoutOf(settings.dynamicConfigDir))
    } catch (error) {
      if (onUnread === undefined) throw error
      onUnread(error)
      return undefined
    }
  }
  const certain = findCertainName(settings, kubeconfig) ?? findFlaggedName(kubelet())
  return certain ?? chooseGuessedName(kept(), readMachineHash(files), normalise(hostName()))
}

/** As kubelet makes its node's name of the host's (`GetHostname`, pkg/util/node/node.go). */
function normalise(hostName: string): string {
  return hostName.trim().toLowerCase()
}

/** The name that a setting or the node's certificate says. undefined: neither does. */
export function findCertainName({ nodeName, manifestDir }: NameSettings, kubeconfig: ClientIdentity): string | undefined {
  if (nodeName !== undefined) return nodeName
  const reading = manifestDir === undefined ? kubeconfig.current() : undefined
  return reading?.kind === 'ok' ? reading.credentials.nodeName() : undefined
}

/**
 * Up to 1.33, a cloud provider in kubelet itself has the last word (`getNodeName`,
 * cmd/kubelet/app/server.go).
 */
const NAMES_NO_NODE = ['', 'external']

/** The name that kubelet's flag gives its Node. undefined: it gives none. */
function findFlaggedName(unit: UnitState): string | undefined {
  const words = asArguments(unit.kind === 'known' ? (unit.command?.words ?? []) : [])
  const name = normalise(flagValue(words, 'hostname-override') ?? '')
  return isObjectName(name) && NAMES_NO_NODE.includes(flagValue(words, 'cloud-provider') ?? '') ? name : undefined
}

/**
 * The kubelet of this machine. With `--node-name`, the Node may be that of another one. kubelet
 * takes its Node's name from its flag or the host.
 */
export function findOwnKubelet(unit: UnitState, { nodeName }: NameSettings, hostName: string): KnownUnit | undefined {
  if (unit.kind !== 'known' || unit.activity === 'not-found') return undefined
  const given = flagValue(asArguments(unit.command?.words ?? []), 'hostname-override') ?? hostName
  return nodeName === undefined || nodeName === normalise(given) ? unit : undefined
}

/**
 * machine-id(5) wants the ID itself to stay on the machine. undefined: it has none, as in an image
 * or at a first boot, or it cannot be read.
 */
function readMachineHash(files: Files): string | undefined {
  try {
    const id = files.read(MACHINE_ID)?.toString('latin1').trim() ?? ''
    return /^[0-9a-f]{32}$/.test(id) ? createHash('sha256').update(`kubelet-cfg-agent ${id}`).digest('hex') : undefined
  } catch {
    return undefined
  }
}
