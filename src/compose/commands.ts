// SPDX-License-Identifier: Apache-2.0
/**
 * The commands' view of the node. They read without changing anything, and write requests; only
 * `release` may take the node over. Loaded for a command, never by the agent.
 */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { findRuntimeDoubt } from '../agent/config-files.ts'
import { findCertainName, findOwnKubelet } from '../agent/identity.ts'
import { readLocalConfig } from '../agent/node-configs.ts'
import { observe } from '../agent/observe.ts'
import { DurableFiles } from '../checkpoint/files.ts'
import { findLockHolder, holdsRemovedLock, takeLock } from '../checkpoint/lock.ts'
import { NodeDisk } from '../checkpoint/node-disk.ts'
import { RequestWriter } from '../checkpoint/requests.ts'
import { setStateAside } from '../checkpoint/set-state-aside.ts'
import { findAgent, takeOver } from '../command/agent/agent-here.ts'
import type { CommandContext } from '../command/agent/command.ts'
import { findVantage, readRightsFrom } from '../command/agent/rights.ts'
import { ask } from '../command/ask.ts'
import { readInput } from '../command/read-input.ts'
import type { Terminal } from '../command/terminal.ts'
import { lookAtSocket, readLink } from '../directory/owned-files.ts'
import { evaluateIn } from '../helper/evaluate-in.ts'
import { type HelperOptions, HelperProcess } from '../helper/helper-process.ts'
import { listNamedFiles } from '../kube/credentials.ts'
import { applyPartOnce, applyWhenRendered, NO_NODE } from '../overlay/apply.ts'
import type { Evaluate } from '../overlay/computed.ts'
import { readInstanceFile, readOverlayFiles } from '../overlay/overlay-files.ts'
import { INSTANCE_CONFIG, INSTANCE_DIRECTORY, OVERLAY } from '../overlay/patch-set.ts'
import { type OverlayView, readOverlayOnce } from '../overlay/read-overlay.ts'
import { findUnfit } from '../preflight/unfit-states.ts'
import { readHistory } from '../report/history.ts'
import { readLastReport } from '../report/last-report.ts'
import { type Settings, toPolicy } from '../settings/settings.ts'
import { toChannelSettings } from '../settings/source-settings.ts'
import { readAssignmentOnce, readManifestsOnce, readNodeOnce } from '../source/read-once.ts'
import type { NodeShown } from '../subject/node-shown.ts'
import { readAgentService } from '../systemd/read-agent-service.ts'
import type { HelperContext } from './helper.ts'
import { AGENT_VERSION } from './kube-api.ts'
import { openBeside, openInPlace, type Programs } from './node.ts'
import { lookAtMachine, openInspection } from './preflight.ts'

interface CommandPrograms extends Programs, Pick<HelperContext, 'yamlChild'> {
  readonly helperProgram: Pick<HelperOptions, 'command' | 'env'>
}

export function openNode(settings: Settings, programs: CommandPrograms, terminal: Terminal): CommandContext {
  const { overlayDir, manifestDir, dynamicConfigDir, runtimeDir } = settings
  const { clock, yaml, standIn, yamlChild, helperProgram } = programs
  const helperContext: HelperContext = { version: AGENT_VERSION, settings, standIn, yamlChild }
  const beside = openBeside(settings, programs)
  const { stores, api, kubeconfig, runtimeProbe } = beside
  const { files, owned, unit, activation, layout } = stores
  const findName = async () => beside.nodeName(findCertainName(settings, kubeconfig) === undefined ? await unit.observe() : undefined)
  // One look at systemd names the Node for the whole command.
  let name: Promise<string> | undefined
  const nodeName = () => {
    name ??= findName()
    return name
  }
  const writable = () => new DurableFiles(new NodeDisk())
  const inspection = openInspection({ ...beside, nodeName, settings: () => settings, signal: new AbortController().signal })
  const vantage = () => findVantage(findLockHolder(layout.lock))
  const readLocal = async () => readLocalConfig(activation, await unit.observe())
  const ownKubelet = async () => findOwnKubelet(await unit.observe(), settings, hostname())
  const lastReport = (bootId: string) => readLastReport(files, runtimeDir, bootId)
  const readOverlay = async (): Promise<OverlayView> =>
    overlayDir === undefined ? { kind: 'none' } : readOverlayOnce(overlayDir, readOverlayFiles(overlayDir, owned), yaml)
  const readInstanceConfig = () => readOverlayOnce(INSTANCE_DIRECTORY, readInstanceFile(INSTANCE_DIRECTORY, owned, files, readLink), yaml)
  const helper = new HelperProcess({ ...helperProgram, context: () => helperContext })
  const nowMs = () => clock.now().monotonicUs / 1000
  const evaluateFor = (node: NodeShown | undefined): Evaluate => evaluateIn(helper, node, { nowMs })
  const findEvaluate = async (): Promise<Evaluate> => {
    const state = await unit.observe()
    if (state.kind === 'known' && state.activity === 'not-found') return evaluateFor(undefined)
    const view = manifestDir === undefined ? await readNodeOnce(api, await nodeName()) : NO_NODE
    return view.kind === 'found' ? evaluateFor(view.node) : async () => ({ ok: false, at: 0, detail: view.detail })
  }
  // One Node for all texts of the command.
  let evaluateHere: Promise<Evaluate> | undefined
  const evaluate: Evaluate = async (expressions) => {
    evaluateHere ??= findEvaluate()
    return (await evaluateHere)(expressions)
  }
  const readAssignment = async () => {
    const channels = toChannelSettings(settings)
    if (manifestDir === undefined) return readAssignmentOnce(api, await nodeName(), channels)
    return readManifestsOnce(manifestDir, await nodeName(), channels, owned, (text) => yaml.all(text))
  }
  return {
    settings,
    terminal,
    version: AGENT_VERSION,
    observe: async (desired = { kind: 'unknown', detail: 'only the running agent reads the assignment from the cluster' }) => {
      const policy = () => toPolicy(settings)
      const unasked = { preflight: undefined, drain: { isDrained: () => undefined, findExclusives: () => undefined }, accepted: new Map() }
      return observe(
        { ...stores, ...unasked, runtimeProbe, nodeName: await nodeName(), policy, assignment: { desired: () => desired } },
        [],
      )
    },
    fetchDesired: async () => {
      const merged = await applyPartOnce(await readAssignment(), { readLocalConfig: readLocal, yaml, evaluate })
      const overlaid = await applyWhenRendered(merged, { patches: OVERLAY, view: await readOverlay() })
      return applyWhenRendered(overlaid, { patches: INSTANCE_CONFIG, view: await readInstanceConfig() })
    },
    readLocalConfig: readLocal,
    readOverlay,
    readInstanceConfig,
    ...{ evaluate, evaluateFor },
    wallMs: () => clock.now().wallMs,
    api,
    nodeName,
    readConfigz: async () => inspection.readConfigz(await ownKubelet()),
    readMisread: inspection.readMisread,
    readEffects: inspection.readEffects,
    checkpoints: stores.checkpoints,
    files,
    readInput,
    ask,
    yaml,
    inspect: inspection.inspect,
    compare: inspection.compare,
    mergeHere: inspection.mergeHere,
    runningVersion: async () => inspection.runningVersion(await ownKubelet()),
    unit,
    activation,
    requests: stores.requests,
    requestWriter: new RequestWriter(writable(), layout),
    findUnfitStates: async () => {
      const next = await unit.readNextStart(process.env)
      return { states: await findUnfit(next?.words, { files, yaml, lookAround: lookAtMachine }), kubeletPid: next?.mainPid ?? 0 }
    },
    setStateAside: ({ file }) => setStateAside(writable(), file),
    takeOver: () =>
      takeOver({
        directory: layout.directory,
        exists: () => existsSync(layout.directory),
        makeDirectory: () => writable().makeDirectory(layout.directory),
        takeLock: () => takeLock(layout.lock, process.pid),
        unit,
        reader: activation,
        open: () => openInPlace(settings, programs).activation,
      }),
    history: { read: () => readHistory(files, dynamicConfigDir) },
    lastReport,
    agent: () =>
      findAgent({
        findHolder: () => findLockHolder(layout.lock),
        lastPid: () => lastReport(clock.now().bootId)?.pid,
        holdsRemovedLock: (pid) => holdsRemovedLock(pid, layout.lock),
      }),
    service: () => readAgentService(settings.systemctl),
    credentialFiles: () => listNamedFiles(settings.kubeconfig),
    rights: (needs) => readRightsFrom(vantage(), needs),
    vantage,
    uid: process.getuid?.() ?? 0,
    nodeFacts: async () => (await import('../kubelet/node-facts.ts')).readMachineFacts(),
    runtimeDoubt: (seen) => findRuntimeDoubt(stores, seen, lookAtSocket),
  }
}
