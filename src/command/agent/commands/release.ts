// SPDX-License-Identifier: Apache-2.0
/**
 * `release`: makes kubelet's next start safe, since no agent will be there to roll it back. Package
 * managers run it when they remove the agent, after they stopped it. They do not run it at an
 * upgrade: the new agent continues the trial. Never restarts kubelet.
 */
import { chooseRelease, type Release } from '../../../decision/choose-release.ts'
import type { Snapshot } from '../../../decision/snapshot.ts'
import type { Withdrawal } from '../../../ports/activation.ts'
import type { KubeAnswer } from '../../../ports/kube-api.ts'
import type { AnyChannel } from '../../../report/channel.ts'
import { CHANNELS } from '../../../report/channels.ts'
import { describeSource } from '../../../subject/config-source.ts'
import { isObjectName } from '../../../values/kubernetes-names.ts'
import { composePatches } from '../../../values/merge-patch.ts'
import { EXIT, type ExitCode, Failure } from '../../command.ts'
import { plainText } from '../../terminal.ts'
import type { CommandContext, NodeCommand } from '../command.ts'
import { judgeLocal } from '../held-configs.ts'

export const releaseCommand: NodeCommand = {
  name: 'release',
  takes: 'node',
  // A package is removed also where its settings cannot be used, and no agent is there afterwards.
  isLenient: 'without-flags',
  group: 'Remove',
  summary: 'make the next start of kubelet safe before you remove the agent',
  description:
    'Run this after you stopped the agent for good. If the next start of kubelet would use a config that has not passed its trial, ' +
    'last-known-good replaces it. A config file that the agent replaced gets its original content back, and a drop-in that the agent added is removed. Kubelet is not restarted. ' +
    'The conditions, the annotation and the label of the agent are removed from the Node where the API server can be reached. ' +
    'The packages run this when they are removed, not when they are upgraded.',
  options: [],
  examples: [['release', 'after systemctl disable --now kubelet-cfg-agent']],
  execute: release,
}

async function release(context: CommandContext): Promise<ExitCode> {
  const { terminal, takeOver, observe } = context
  const hold = await takeOver()
  if (hold.kind === 'untouched') {
    terminal.out('Nothing to release: no agent has worked on this node.\n')
    return EXIT.fine
  }
  if (hold.kind === 'refused') throw new Failure(hold.detail)
  try {
    const withdraw = (extent: Withdrawal, { unit }: Snapshot) =>
      hold.activation.withdraw(extent, unit, (path, how) =>
        terminal.out(`${plainText(path)} ${how === 'removed' ? 'was removed' : 'has its original content again'}.\n`),
      )
    let snapshot = await observe()
    let decision = chooseRelease(snapshot)
    if (decision.kind === 'unknown') {
      // The file that hid the next start may be one of the agent.
      withdraw(isServedOutside(snapshot) ? 'everything' : 'replaced-files', snapshot)
      snapshot = await observe()
      decision = chooseRelease(snapshot)
    }
    if (decision.kind === 'activate') hold.activation.activate(decision.target, decision.wiring)
    // Includes files that the unit no longer names: it may name them again after the agent is gone.
    withdraw(decision.kind === 'withdraw' ? 'everything' : 'replaced-files', snapshot)
    tellClearing(await clearNode(context), plainText(await context.nodeName()), context.terminal)
    await warnOfLocal(context)
    if (decision.kind === 'unknown')
      throw new Failure(`cannot tell what kubelet starts with next, and left it as it is: ${decision.detail}`)
    terminal.out(`${plainText(describe(decision))}\nKubelet was not restarted.\n`)
    return EXIT.fine
  } finally {
    hold.end()
  }
}

/**
 * Without the package, kubelet starts with its local config, and nobody goes back from there. Never
 * in the way of a removal.
 */
async function warnOfLocal(context: CommandContext): Promise<void> {
  const judgement = await judgeLocal(context).catch(() => undefined)
  if (judgement?.kind !== 'refused') return
  context.terminal.out(
    `Warning: this kubelet refuses its local config, and without the agent nothing goes back from it: ${plainText(judgement.detail)}\n` +
      'Correct it before kubelet starts with it.\n',
  )
}

/**
 * A line that names a config in the agent's own directory is then left of another kind of
 * activation.
 */
function isServedOutside({ unit }: Snapshot): boolean {
  return unit.kind === 'known' && unit.wiring.kind === 'ready' && unit.wiring.leavesWithAgent
}

/** No failure of the command: kubelet's next start is what counts here. */
function tellClearing(clearing: Clearing, node: string, terminal: CommandContext['terminal']): void {
  switch (clearing.kind) {
    case 'nothing':
      return
    case 'cleared':
      terminal.out(`Removed the agent's report from Node ${node}.\n`)
      return
    case 'failed': {
      const commands = clearing.advice.map((command) => `  ${plainText(command)}\n`).join('')
      terminal.err(
        `kubelet-cfg-agent release: cannot remove the agent's last report from Node ${node}, which may still show it: ` +
          `${plainText(clearing.detail)}\nAn administrator can remove it:\n${commands}`,
      )
    }
  }
}

function describe(decision: Exclude<Release, { kind: 'unknown' }>): string {
  if (decision.kind === 'keep') return `Nothing to release: ${decision.why}.`
  return `Kubelet's next start uses ${describeSource(decision.kind === 'activate' ? decision.target : 'local')}: ${decision.why}.`
}

type Clearing =
  /** The Node shows nothing of the agent, or there is no Node or API server. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'cleared' }
  /** `advice`: commands that do it by hand. */
  | { readonly kind: 'failed'; readonly detail: string; readonly advice: readonly string[] }

/** A package is not removed faster while the API server is away. */
const TIMEOUT_MS = 5000

type Failed = Exclude<KubeAnswer, { kind: 'ok' }>
type ClearingSources = Pick<CommandContext, 'api' | 'settings' | 'nodeName' | 'rights'>

export async function clearNode({ api, settings, nodeName, rights }: ClearingSources): Promise<Clearing> {
  const [kubeconfig] = rights([{ path: settings.kubeconfig, need: 'read' }])
  if (settings.manifestDir !== undefined || kubeconfig?.state === 'missing') return { kind: 'nothing' }
  const name = await nodeName()
  if (!isObjectName(name)) return { kind: 'nothing' }
  const path = `/api/v1/nodes/${name}`
  const node = await api.request({ method: 'GET', path, timeoutMs: TIMEOUT_MS })
  if (node.kind === 'refused' && node.status === 404) return { kind: 'nothing' }
  if (node.kind !== 'ok') return failed(node, listParts(name))
  const shown = listParts(name).filter(({ channels }) => channels.some(({ isShown }) => isShown(node.object)))
  if (shown.length === 0) return { kind: 'nothing' }
  const remove = (path: string, parts: readonly Part[]) =>
    api.request({
      method: 'PATCH',
      path,
      contentType: STRATEGIC,
      body: parts.map(({ body }) => body).reduce(composePatches),
      timeoutMs: TIMEOUT_MS,
    })
  const joint = await remove(`/api/v1/nodes/${name}/status`, shown)
  if (joint.kind === 'unreachable') return failed(joint, shown)
  const left = joint.kind === 'ok' ? shown.filter(({ channels }) => channels.some(({ isShown }) => isShown(joint.object))) : shown
  const refused: { readonly part: Part; readonly answer: Failed }[] = []
  for (const part of left) {
    // Each part by its own path: one right may be there without the other.
    const answer = await remove(part.path, [part])
    if (answer.kind !== 'ok') refused.push({ part, answer })
  }
  const [first] = refused
  return first === undefined
    ? { kind: 'cleared' }
    : failed(
        first.answer,
        refused.map(({ part }) => part),
      )
}

/** A strategic merge patch removes keys by null, as a merge patch does, and conditions by type. */
const STRATEGIC = 'application/strategic-merge-patch+json'

interface Part {
  readonly channels: readonly AnyChannel[]
  readonly path: string
  readonly body: unknown
  readonly advice: readonly string[]
}

function listParts(name: string): readonly Part[] {
  const node = `/api/v1/nodes/${name}`
  return (['status', 'metadata'] as const).map((part) => {
    const channels = Object.values(CHANNELS).filter((channel) => channel.part === part && channel.remove !== undefined)
    const removals = channels.flatMap(({ remove }) => remove?.(name) ?? [])
    const body = removals.map((removal): unknown => removal.body).reduce(composePatches, {})
    return { channels, path: part === 'status' ? `${node}/status` : node, body, advice: removals.map(({ byHand }) => byHand) }
  })
}

function failed({ detail }: Failed, left: readonly Part[]): Clearing {
  return { kind: 'failed', detail, advice: left.flatMap(({ advice }) => advice) }
}
