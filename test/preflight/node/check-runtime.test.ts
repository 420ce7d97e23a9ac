// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { RuntimeFault } from '../../../src/ports/probes.ts'
import { findNeeds } from '../../../src/preflight/node/check-node.ts'
import type { NodeOptions } from '../../../src/preflight/node/node-view.ts'
import type { RuntimeCgroup, RuntimeFacts } from '../../../src/preflight/node/surroundings.ts'
import { optionsOf, verdicts } from './node-options.ts'

const ANSWERS: RuntimeFacts = { fault: undefined, cgroup: undefined }
const fault = (why: RuntimeFault): { runtime: RuntimeFacts } => ({
  runtime: { fault: { why, detail: 'Status of /run/new.sock: no answer within 10 s' }, cgroup: undefined },
})
const uses = (driver: RuntimeCgroup['driver'], from: RuntimeCgroup['from']) => ({ runtime: { fault: undefined, cgroup: { driver, from } } })
const runs = (minor: number, running: object, args: readonly string[] = []) => optionsOf(minor, args, { running: { ...running } })

t.test('an endpoint that does not answer', async (t) => {
  const config = { containerRuntimeEndpoint: 'unix:///run/new.sock' }
  const refused = ['refuse guard/runtime-endpoint containerRuntimeEndpoint']
  const warned = ['warn node/runtime-endpoint containerRuntimeEndpoint']
  t.same(verdicts(config, { runtime: ANSWERS }, runs(30, {})), [])
  t.same(verdicts(config, fault('down'), runs(30, {})), refused)
  t.same(verdicts(config, fault('not-cri'), runs(30, {})), refused, 'something else listens there')
  t.same(verdicts(config, fault('not-allowed'), runs(30, {})), [], 'unknown')
  t.same(verdicts(config, fault('not-trusted'), runs(30, {})), refused, 'that of another account')
  t.same(verdicts(config, fault('not-trusted'), runs(30, config)), warned, 'kubelet uses it already')
  t.same(verdicts(config, fault('down'), runs(30, config)), warned, 'the one that runs')
  t.same(verdicts({ containerRuntimeEndpoint: '/var/run/new.sock' }, fault('down'), runs(30, config)), warned, 'the same in other words')
  t.same(verdicts(config, fault('down')), warned, 'the running config is unknown')
  t.same(verdicts(config, fault('down'), optionsOf(20)), [], '1.20 does not have the field')
  t.same(verdicts(config, {}), [])
})

t.test('an image service that does not answer', async (t) => {
  const config = { imageServiceEndpoint: 'unix:///run/images.sock' }
  const down = (why: RuntimeFault = 'down') => ({ imageService: { fault: { why, detail: 'no such file or directory' } } })
  const refused = ['refuse guard/runtime-endpoint imageServiceEndpoint']
  const warned = ['warn node/runtime-endpoint imageServiceEndpoint']
  t.same(verdicts(config, down(), runs(30, {})), refused)
  t.same(verdicts(config, down(), runs(30, { imageServiceEndpoint: 'unix:///run/other.sock' })), refused)
  t.same(verdicts(config, down(), runs(30, config)), warned, 'the one that runs')
  t.same(verdicts(config, down()), warned, 'the running config is unknown')
  t.same(verdicts(config, down('not-allowed'), runs(30, {})), [], 'unknown')
  t.same(verdicts(config, down('not-trusted'), runs(30, {})), refused, 'that of another account')
  t.same(verdicts(config, { imageService: { fault: undefined } }, runs(30, {})), [])
  t.same(verdicts(config, down(), runs(26, {})), [], '1.26 does not have the field')
  const asked = (more: object, minor = 30) => findNeeds({ ...config, ...more }, optionsOf(minor)).imageSocket
  t.equal(asked({}), '/run/images.sock')
  t.equal(asked({ containerRuntimeEndpoint: '/run/images.sock' }), undefined, 'it is the container runtime')
  t.equal(asked({ imageServiceEndpoint: '' }), undefined)
  t.equal(asked({}, 26), undefined)
})

t.test('a cgroup driver other than the one that the runtime has in its config file', async (t) => {
  const refused = ['refuse guard/cgroup-driver cgroupDriver']
  const warned = ['warn guard/cgroup-driver cgroupDriver']
  const systemd = uses('systemd', 'file')
  for (const minor of [28, 30, 34, 36]) {
    t.same(verdicts({ cgroupDriver: 'cgroupfs' }, systemd, runs(minor, { cgroupDriver: 'systemd' })), refused, `${minor}`)
    t.same(verdicts({}, systemd, runs(minor, { cgroupDriver: 'systemd' })), refused, `${minor}: cgroupfs is the default`)
    t.same(verdicts({ cgroupDriver: 'systemd' }, systemd, runs(minor, {})), [], `${minor}: it is mended`)
    t.same(verdicts({ cgroupDriver: 'systemd' }, uses('cgroupfs', 'file'), runs(minor, {})), refused, `${minor}`)
  }
  t.same(verdicts({}, systemd, runs(30, {})), warned, 'as before')
  t.same(verdicts({}, systemd), warned, 'what runs is unknown')
  t.same(verdicts({ cgroupDriver: 'cgroupfs' }, systemd, runs(30, { cgroupDriver: 'systemd' }, ['--cgroup-driver=systemd'])), [], 'a flag')
  t.same(verdicts({ cgroupDriver: 'cgroupfs' }, { runtime: ANSWERS }, runs(30, { cgroupDriver: 'systemd' })), [], 'unknown')
})

t.test('a cgroup driver other than the one that the runtime tells', async (t) => {
  const change = { cgroupDriver: 'cgroupfs' }
  const told = uses('systemd', 'answer')
  const of = (minor: number, more: object = {}) => verdicts({ ...change, ...more }, told, runs(minor, { cgroupDriver: 'systemd' }))
  const gate = (on: boolean) => ({ featureGates: { KubeletCgroupDriverFromCRI: on } })
  const noEffect = ['warn node/cgroup-driver cgroupDriver']
  const refused = ['refuse guard/cgroup-driver cgroupDriver']
  t.same(of(31), noEffect, 'kubelet takes it')
  t.same(of(34), noEffect)
  t.same(of(30), refused, 'kubelet does not ask')
  t.same(of(30, gate(true)), noEffect)
  t.same(of(31, gate(false)), refused)
  t.same(verdicts({}, told, runs(34, {})), [], 'nobody named one')
})

t.test('which socket is asked', async (t) => {
  const asked = (config: object, options: NodeOptions) => findNeeds({ ...config }, options).runtimeSocket
  t.equal(asked({ containerRuntimeEndpoint: 'unix:///run/x.sock' }, optionsOf(30)), '/run/x.sock')
  t.equal(asked({}, optionsOf(30)), '/run/containerd/containerd.sock')
  t.equal(asked({}, optionsOf(20, ['--container-runtime-endpoint=unix:///var/run/crio/crio.sock'])), '/run/crio/crio.sock')
  t.equal(asked({}, optionsOf(20)), undefined)
  t.equal(asked({}, optionsOf(20, ['--container-runtime-endpoint=unix:///var/run/dockershim.sock'])), undefined)
  t.equal(asked({ containerRuntimeEndpoint: 'tcp://127.0.0.1:1' }, optionsOf(30)), undefined)
})
