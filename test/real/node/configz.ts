// SPDX-License-Identifier: Apache-2.0
/**
 * `/configz` of a kubelet of today, with the right `nodes/configz` alone: what is lost without it,
 * what the effect check and `generate` do with it, and that nothing is sent to a port that does not
 * serve the certificate in kubelet's file.
 */
import { strict as assert } from 'node:assert'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parse } from 'yaml'
import { mergePatch } from '../../../src/values/merge-patch.ts'
import { eventually } from '../lab/eventually.ts'
import { modernKubeletMinor } from '../lab/node-choice.ts'
import { CommandError } from '../lab/processes.ts'
import { asList, listRights, nameOf, readManifests, without } from '../rights/manifests.ts'
import type { Node } from './node.ts'
import { onEachKubelet, type Stage } from './proof/stage.ts'

const FILE = 'rbac/node-configz.yaml'
const RIGHT = 'nodes/configz get'
const CERTIFICATE = '/var/lib/kubelet/pki/kubelet.crt'
const NOT_COMPARED = /^kubelet's running config is not compared with its config file: cannot read \/configz: 403: .*nodes/
/** From this minor on, the agent reads kubelet's log where it may not read `/configz`. */
const LOGS_ITS_CONFIG = 37
const DIFFERS = /^kubelet's running config differs from its config file: /
/** kubelet remembers what the API server allowed, by default for minutes. */
const FORGETFUL = { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '1s', cacheUnauthorizedTTL: '1s' } }
const SETTINGS = { TRIAL_DURATION: '5s', RESTARTS_PER_HOUR: '60' }

/** By a kubelet of today. */
export function addConfigzScenarios(program: string): void {
  onEachKubelet(program, ['new'], '/configz with nodes/configz alone', 'configz', SETTINGS, async (stage) => {
    const { step, node } = stage
    await step('a config is promoted', async () => {
      await stage.promoteFirst()
      await stage.untilPromoted(await stage.put({ maxPods: 51, authorization: FORGETFUL }))
    })
    await step(`${FILE} without ${RIGHT}: at most kubelet's log is compared, and generate says what it needs`, () => playLoss(stage))
    await step('with all of it, generate writes what runs', async () => {
      await stage.plane.kubectl(['apply', '-f', '-'], { input: asList(readManifests(FILE)) })
      await generatesWhatRuns(node)
    })
    await step('kubelet runs the same with what was generated', () => runsWhatWasGenerated(stage))
    await step('a flag that overrides the config is named', () => namesFlag(node))
    await step('a port that serves another certificate than that of the file is asked nothing', () => asksOnlyKubelet(node))
    await step('with the right taken away, kubelet refuses again', async () => {
      await stage.plane.kubectl(['delete', 'clusterrolebinding', 'kubelet-cfg-agent:node-configz'])
      await eventually(() => isRefused(node), { what: 'the right is gone' })
    })
  })
}

async function playLoss(stage: Stage): Promise<void> {
  const { plane, node } = stage
  const manifests = readManifests(FILE)
  const rights = listRights(manifests)
  assert.deepEqual(rights.map(nameOf), [RIGHT])
  for (const right of rights) await plane.kubectl(['apply', '-f', '-'], { input: asList(without(manifests, right)) })
  await stage.untilPromoted(await stage.put({ maxPods: 52, authorization: FORGETFUL }))
  if (modernKubeletMinor() < LOGS_ITS_CONFIG) await node.untilSays(NOT_COMPARED)
  else {
    assert.equal(await node.timesSaid(NOT_COMPARED), 0)
    assert.deepEqual(JSON.parse((await node.command('status', '-o', 'json')).stdout).misread, [])
  }
  assert.equal(await node.timesSaid(DIFFERS), 0)
  assert(await isRefused(node))
}

async function isRefused(node: Node): Promise<boolean> {
  const { status, stdout, stderr } = await generate(node)
  if (status === 0) return false
  assert.equal(stdout, '')
  assert.match(stderr, /403: Forbidden \(user=system:node:\S+, verb=get, resource=nodes, .*configz.*deploy\/rbac\/node-configz\.yaml/)
  return true
}

async function generatesWhatRuns(node: Node): Promise<void> {
  const { stdout } = await eventually(
    async () => {
      const answer = await generate(node)
      return answer.status === 0 && answer
    },
    { what: 'the right is there' },
  )
  const whole = withoutKind(parse((await node.command('generate', '--all')).stdout))
  const { tlsCertFile, tlsPrivateKeyFile, ...runs } = withoutKind(await node.configz())
  assert.deepEqual([tlsCertFile, tlsPrivateKeyFile], [CERTIFICATE, CERTIFICATE.replace(/crt$/, 'key')])
  assert.deepEqual(whole, { ...runs, enforceNodeAllocatable: [] })
  const generated = withoutKind(parse(stdout))
  assert.deepEqual(mergePatch(whole, generated), whole)
  assert.equal(generated.syncFrequency, undefined, 'a mere default is left out')
  writeFileSync(node.host('/root/generated.yaml'), stdout)
  const { stdout: report } = await node.command('validate', '--deep', '/root/generated.yaml')
  assert.match(report, /^kubelet +accepted /m)
  assert.match((await node.command('diff', '/root/generated.yaml')).stdout, /no difference$/m)
}

/** /configz of 1.36 has them too. */
function withoutKind({ apiVersion: _, kind: __, ...fields }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return fields
}

async function runsWhatWasGenerated(stage: Stage): Promise<void> {
  const { node } = stage
  const before = await node.configz()
  await stage.untilPromoted(await stage.putText((await node.exec('cat', '/root/generated.yaml')).stdout))
  assert.deepEqual(await node.configz(), before)
  assert.match((await node.command('diff', '/root/generated.yaml')).stdout, /no difference$/m)
  assert.equal(await node.timesSaid(DIFFERS), 0)
}

async function namesFlag(node: Node): Promise<void> {
  const flags = node.host('/etc/default/kubelet')
  mkdirSync(dirname(flags), { recursive: true })
  writeFileSync(flags, 'KUBELET_EXTRA_ARGS=--max-pods=33\n')
  await node.systemctl('restart', 'kubelet')
  await node.untilRuns(33)
  await node.untilSays(/^kubelet's running config differs from its config file: maxPods is 33, not 52 \(--max-pods\)$/)
}

async function asksOnlyKubelet(node: Node): Promise<void> {
  const file = node.host(CERTIFICATE)
  copyFileSync(file, `${file}.kept`)
  copyFileSync(node.host('/etc/kubernetes/pki/ca.crt'), file)
  const { status, stderr } = await generate(node)
  copyFileSync(`${file}.kept`, file)
  assert.equal(status, 1)
  assert.match(stderr, /serves another certificate than the one in kubelet's file/)
  assert.equal((await generate(node)).status, 0)
}

/** With the node's own identity. */
function generate(node: Node): Promise<Answer> {
  return tell(node, 'generate')
}

interface Answer {
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Whatever its exit status. */
async function tell(node: Node, ...args: readonly string[]): Promise<Answer> {
  try {
    return { ...(await node.command(...args)), status: 0 }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { stdout: error.stdout, stderr: error.stderr, status: error.exitStatus }
  }
}
