// SPDX-License-Identifier: Apache-2.0
/**
 * How a node stands, as an administrator with kubectl sees it where `status.config` is gone: the
 * condition and the annotation of its Node, on a real kube-apiserver, written by an agent that has
 * the node's own identity and nothing else.
 */
import { strict as assert } from 'node:assert'
import type { Administrator } from './administrator.ts'
import { eventually } from './lab/eventually.ts'
import { scenario } from './lab/runner.ts'
import { type Machine, withMachine } from './machine.ts'
import { withModernPlane } from './modern-plane.ts'
import { CONFIG_LABEL, PAUSED_ANNOTATION, STATUS_ANNOTATION } from './node-words.ts'
import { labels } from './records.ts'

const SETTINGS = { trialDuration: '6s', logLevel: 'debug', publish: 'config,condition,annotation,label' }

export function addModernStatusScenarios(program: string): void {
  scenario(
    'modern status: condition and annotation',
    (step) =>
      withModernPlane(step, (plane) =>
        withMachine(plane, program, { name: 'standing', settings: SETTINGS }, async (machine, admin) => {
          for (const [name, maxPods] of [
            ['one', 51],
            ['two', 52],
          ] as const) {
            await admin.createConfigMap(name, machine.config(`maxPods: ${maxPods}`))
            await plane.grantNodesConfigMap('kube-system', admin.nameOf(name))
          }
          await admin.createConfigMap('wrong', machine.config('maxPods: -1'))
          await plane.grantNodesConfigMap('kube-system', admin.nameOf('wrong'))
          const ready = (...options: string[]) =>
            admin.kubectl('wait', '--for=condition=KubeletConfigReady', `node/${machine.name}`, ...options)
          const label = (name: string) =>
            admin.kubectl('label', '--overwrite', 'node', machine.name, `${CONFIG_LABEL}=${admin.nameOf(name)}`)

          const untilLabelled = (state: string) =>
            eventually(async () => (await states(admin, machine)).trimEnd().endsWith(` ${state}`), { what: `the label ${state}` })

          await step('local', async () => {
            machine.agent.start()
            await eventually(() => ready('--timeout=20s'), { what: 'kubectl wait returns' })
            await admin.untilCondition({
              status: 'True',
              reason: 'Local',
              message: 'nothing is assigned: kubelet runs its local config',
            })
            await untilLabelled('Local')
          })
          const one = await step('a config is on trial, with its end', async () => {
            await label('one')
            const inTrial = await admin.untilCondition({
              status: 'Unknown',
              reason: 'InTrial',
              message: /^trial of kube-system\/standing-one:kubelet@\d+ until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
            })
            const { trial } = await admin.untilAnnotation('the trial', (annotation) => annotation.trial?.until !== undefined)
            assert.equal(Date.parse(trial.until) - Date.parse(trial.since), 6000)
            assert.ok(inTrial.message.endsWith(trial.until))
            return admin.source('one')
          })
          await step('kubectl wait returns when the trial is over', async () => {
            assert.match(await ready('--timeout=30s'), /^node\/standing condition met/)
            const promoted = await admin.condition()
            assert.equal(promoted?.reason, 'Promoted')
            console.log(await columns(admin, machine))
            console.log((await admin.statusText()) ?? '')
            await untilLabelled('Promoted')
            console.log(await states(admin, machine))
          })
          await step('the annotation has all of it', async () => {
            const told = await admin.untilAnnotation(labels(one), ({ lastKnownGood }) => lastKnownGood?.configMap?.name === one.name)
            const { contentHash, agentVersion, warnings, ...rest } = told
            const configMap = one
            assert.deepEqual(rest, { assigned: { configMap }, active: { configMap }, lastKnownGood: { configMap }, channel: 'label' })
            assert.match(contentHash, /^[0-9a-f]{64}$/)
            assert.match(warnings.join('\n'), /^the kubelet check could not run: .* is not an ELF program/)
            assert.equal(typeof agentVersion, 'string')
          })
          await step('a restart of the agent writes nothing', async () => {
            const before = { condition: await admin.condition(), text: await admin.statusText() }
            const said = machine.agent.timesSaid(/^settled: /)
            const updating = /^updating (condition|annotation)/
            const updated = machine.agent.timesSaid(updating)
            await machine.agent.stop()
            machine.agent.start()
            await machine.agent.untilSays(/^settled: /, said + 1)
            await machine.agent.untilSays(/^the API server drops Node\.Status\.Config/, 2)
            await machine.agent.untilSays(/watching only the metadata of the Node$/, 2)
            assert.deepEqual({ condition: await admin.condition(), text: await admin.statusText() }, before)
            assert.equal(machine.agent.timesSaid(updating), updated)
          })
          await step('refused, and why', async () => {
            const before = machine.restarts()
            await label('wrong')
            await admin.untilCondition({
              status: 'False',
              reason: 'Refused',
              message:
                /^kube-system\/standing-wrong:kubelet@\d+ was refused before a restart, kube-system\/standing-one:kubelet@\d+ runs: .*maxPods/,
            })
            const told = await admin.untilAnnotation('the verdict', ({ verdict }) => verdict !== undefined)
            assert.deepEqual(told.verdict, { state: 'refused', reason: 'validate' })
            assert.match(told.error ?? '', /^failed to validate config: .*maxPods/)
            assert.equal(machine.restarts(), before)
            await untilLabelled('Refused')
            console.log(await columns(admin, machine))
          })
          await step('paused', async () => {
            await admin.kubectl('annotate', 'node', machine.name, `${PAUSED_ANNOTATION}=true`)
            await label('two')
            await admin.untilCondition({
              status: 'False',
              reason: 'Paused',
              message: /^config not activated: paused by annotation .* of Node standing; desired: kube-system\/standing-two:kubelet@\d+$/,
            })
            await admin.kubectl('annotate', 'node', machine.name, `${PAUSED_ANNOTATION}-`)
          })
          await step('the time of a transition moves with the status alone', async () => {
            const paused = await admin.condition()
            await admin.untilCondition({ status: 'True', reason: 'Promoted' })
            const promoted = await admin.condition()
            assert.ok(Date.parse(promoted?.lastTransitionTime ?? '') >= Date.parse(paused?.lastTransitionTime ?? ''))
            await machine.agent.stop()
            await label('one')
            machine.agent.start()
            const inTrial = await admin.untilCondition({ status: 'Unknown', reason: 'InTrial' })
            await machine.agent.stop()
            machine.agent.start()
            await admin.untilCondition({ status: 'Unknown', reason: 'InTrial', lastTransitionTime: inTrial.lastTransitionTime })
            await admin.untilCondition({ status: 'True', reason: 'Promoted' })
          })
          await step('what somebody deletes is mended', async () => {
            const before = await admin.statusText()
            await admin.kubectl('annotate', 'node', machine.name, `${STATUS_ANNOTATION}-`)
            assert.equal(await admin.statusText(), undefined)
            await eventually(async () => (await admin.statusText()) === before, { what: 'the annotation is back', timeoutMs: 80_000 })
          })
          await step('and switched off while it runs, it takes back what it said, and writes nothing any more', async () => {
            await untilLabelled('Promoted')
            const said = machine.agent.timesSaid(/^setting publish changed$/)
            await machine.writeSettings({ trialDuration: '6s', publish: '' })
            machine.agent.signal('SIGHUP')
            await machine.agent.untilSays(/^setting publish changed$/, said + 1)
            await admin.untilCondition({ status: 'Unknown', reason: 'NotPublished' })
            await eventually(async () => (await admin.statusText()) === undefined, { what: 'the annotation is gone' })
            await eventually(async () => (await stateLabel(admin, machine)) === '', { what: 'the label is gone' })
            await label('two')
            await machine.untilRuns(52)
            assert.equal((await admin.condition())?.reason, 'NotPublished')
            assert.equal(await admin.statusText(), undefined)
            assert.equal(await stateLabel(admin, machine), '')
          })
        }),
      ),
    { timeoutMs: 380_000 },
  )
}

/** As a person would list nodes. */
function columns(admin: Administrator, machine: Machine): Promise<string> {
  const field = (name: string) => `.status.conditions[?(@.type=="KubeletConfigReady")].${name}`
  const shown = ['status', 'reason', 'lastTransitionTime', 'message'].map((name) => `${name.toUpperCase()}:${field(name)}`)
  return admin.kubectl('get', 'node', machine.name, '-o', `custom-columns=NAME:.metadata.name,${shown.join(',')}`)
}

function states(admin: Administrator, machine: Machine): Promise<string> {
  return admin.kubectl('get', 'nodes', machine.name, '-L', 'kubelet-cfg-agent.io/state')
}

function stateLabel(admin: Administrator, machine: Machine): Promise<string> {
  return admin.kubectl('get', 'node', machine.name, '-o', 'jsonpath={.metadata.labels.kubelet-cfg-agent\\.io/state}')
}
