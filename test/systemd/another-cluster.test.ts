// SPDX-License-Identifier: Apache-2.0
import { hostname } from 'node:os'
import t from 'tap'
import { ANY_UNIT, openIdentity } from '../../src/agent/identity.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { KubeconfigFile } from '../../src/kube/kubeconfig.ts'
import { resolveSettings } from '../../src/settings/resolve-settings.ts'
import type { UnitState } from '../../src/subject/unit-state.ts'
import { UnitActivation } from '../../src/systemd/activation.ts'
import { ACTIVATION_KINDS } from '../../src/systemd/activation-kinds.ts'
import { dropInWiring, envWiring, fileWiring } from '../../src/systemd/wiring-kinds.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { CONFIG, crashEverywhere, DIRECTORY, ORIGINAL, pathOf, sourceOf, worldWith } from './disk.ts'

const ENV_FILE = `${DIRECTORY}/kubelet.env`
const WIRINGS = { env: envWiring(ENV_FILE, `--config=${CONFIG}`), file: fileWiring(CONFIG), 'drop-in': dropInWiring('/etc/kubelet.d') }
const A = sourceOf('101')
const kubeletWith = (...words: string[]) => ({ kind: 'known', command: { path: '/usr/bin/kubelet', words } }) as unknown as UnitState
const PARTS = { kubelet: () => kubeletWith(), onSetAside: () => {} }

/** A machine that was cloned with a config in place, and has another name now. */
function open(kind: keyof typeof WIRINGS) {
  const { files, disk, clock } = worldWith(A)
  disk.plant('/etc/kubelet.d/README', '')
  const layout = layoutOf(DIRECTORY)
  const parts = { files, clock, dynamicConfigDir: DIRECTORY, envFile: ENV_FILE, runtimeDir: '/run/kubelet-cfg-agent' }
  const activation = new UnitActivation({ ...parts, ownership: { give: () => {} }, log: silentLog() })
  activation.stage('local', WIRINGS[kind])
  activation.activate(A, WIRINGS[kind])
  disk.plant(layout.binding, JSON.stringify({ nodeName: 'worker-1', caHashes: [] }))
  const resolve = (nodeName: string | undefined) => {
    const flags = { ...(nodeName !== undefined && { nodeName }), manifestDir: '/manifests', dynamicConfigDir: DIRECTORY }
    const resolved = resolveSettings({ flags, env: {}, file: { kind: 'absent', path: '' } })
    if (!resolved.ok) throw new Error(resolved.problems.join())
    return resolved.settings
  }
  const log = silentLog()
  const kubeconfig = new KubeconfigFile('/nowhere', () => ({ kind: 'absent', detail: 'none' }), log)
  const stores = { files, layout, activation }
  const start = (nodeName?: string) => openIdentity({ ...PARTS, settings: resolve(nodeName), stores, kubeconfig, log, hostName: hostname })
  return { files, disk, activation, start, log, layout }
}

for (const kind of ACTIVATION_KINDS) {
  t.test(`kubelet does not start with a config of another node or cluster: ${kind}`, async (t) => {
    const check = ({ activation, disk, files, start }: ReturnType<typeof open>, where: string) => {
      disk.restart()
      start('worker-2')
      t.equal(activation.read(WIRINGS[kind]).kind, 'local', where)
      t.equal(files.read(CONFIG)?.toString(), ORIGINAL, where)
      t.equal(files.read(`${DIRECTORY}/foreign-1/meta/cluster`) === undefined, false, where)
      t.equal(files.list(`${DIRECTORY}/foreign-2`), undefined, where)
    }
    const world = open(kind)
    check(world, 'without a crash')
    t.equal(world.log.said.length, kind === 'env' ? 0 : 1)
    const stuck = open(kind)
    stuck.disk.plant(`${ENV_FILE}.fallback`, 'a fallback')
    stuck.disk.faultOf = ({ path }) => (path.startsWith(ENV_FILE) || path.startsWith('/etc/') ? 'EROFS' : undefined)
    stuck.start('worker-2')
    const isStarted = 'where it cannot be taken away, the agent starts'
    t.match(
      stuck.log.said,
      [
        /is still in place, since it cannot be taken away$/,
        /^a fallback .* cannot be removed/,
        ...(kind === 'env' ? [/checkpoints stay/] : []),
      ],
      isStarted,
    )
    t.equal(stuck.files.read(pathOf(A)) !== undefined, kind === 'env', 'kubelet.env names a checkpoint that exists')
    t.equal(stuck.files.stat(`${DIRECTORY}/meta/assigned`), undefined, 'which is assigned no more')
    crashEverywhere(
      () => open(kind),
      (crashed) => void crashed.start('worker-2'),
      check,
    )
  })
}

t.test('a clone is known by its machine ID where nothing but the host name says which node it is', async (t) => {
  const ID = '/etc/machine-id'
  const worlds = { 'of an older agent': {}, 'of this agent': { nodeName: 'worker-1', machineHash: 'of another machine' } }
  for (const [what, record] of Object.entries(worlds)) {
    for (const nodeName of [undefined, 'worker-1']) {
      const { disk, files, start, layout } = open('env')
      disk.plant(ID, `${'a'.repeat(32)}\n`)
      disk.plant(layout.binding, JSON.stringify({ nodeName: 'worker-1', caHashes: [], ...record }))
      const isClone = nodeName === undefined && 'machineHash' in record
      t.equal(start(nodeName).nodeName, isClone ? hostname().trim().toLowerCase() : 'worker-1', what)
      t.equal(files.stat(`${DIRECTORY}/foreign-1`) !== undefined, isClone, what)
      const hash = JSON.parse(files.read(layout.binding)?.toString() ?? '{}').machineHash
      t.match(hash, /^[0-9a-f]{64}$/, what)
      disk.plant(ID, 'uninitialized\n')
      start(nodeName)
      t.equal(JSON.parse(files.read(layout.binding)?.toString() ?? '{}').machineHash, hash, 'kept while the machine has no ID')
    }
  }
})

t.test('a machine whose ID changes at each boot keeps its state with its host name', async (t) => {
  const { disk, files, start, layout } = open('env')
  const nodeName = hostname().trim().toLowerCase()
  disk.plant('/etc/machine-id', `${'a'.repeat(32)}\n`)
  disk.plant(layout.binding, JSON.stringify({ nodeName, caHashes: [], machineHash: 'of the boot before' }))
  t.equal(start(undefined).nodeName, nodeName)
  t.equal(files.stat(`${DIRECTORY}/foreign-1`), undefined)
})

t.test('a host name that may not be the name of the Node binds nothing while kubelet is not known', async (t) => {
  const { files, layout, activation, log } = open('env')
  files.remove(layout.binding)
  const resolved = resolveSettings({ flags: { dynamicConfigDir: DIRECTORY }, env: {}, file: { kind: 'absent', path: '' } })
  if (!resolved.ok) throw new Error(resolved.problems.join())
  const credentials = { nodeName: () => undefined, authorityHashes: () => ['the CA'] }
  const kubeconfig = new KubeconfigFile('/nowhere', () => ({ kind: 'ok', credentials }) as never, log)
  const parts = { ...PARTS, settings: resolved.settings, stores: { files, layout, activation }, kubeconfig, log, hostName: () => 'n1' }
  let kubelet: UnitState = ANY_UNIT
  const first = openIdentity({ ...parts, kubelet: () => kubelet })
  t.equal(first.nodeName, 'n1')
  t.equal(files.stat(layout.binding), undefined)
  kubelet = kubeletWith('--hostname-override=worker-1')
  t.match(first.findChange(), /names another node/)
  const next = openIdentity({ ...parts, kubelet: () => kubelet })
  t.equal(next.nodeName, 'worker-1')
  t.match(files.read(layout.binding)?.toString(), /"nodeName":"worker-1"/)
  t.equal(files.stat(`${DIRECTORY}/foreign-1`), undefined)
  kubelet = ANY_UNIT
  t.equal(openIdentity({ ...parts, kubelet: () => kubelet }).nodeName, 'worker-1', 'kept')
})

t.test('a node that gets another name while the agent runs is noticed', async (t) => {
  const { files, layout, activation, log } = open('env')
  files.remove(layout.binding)
  const resolved = resolveSettings({ flags: { dynamicConfigDir: DIRECTORY }, env: {}, file: { kind: 'absent', path: '' } })
  if (!resolved.ok) throw new Error(resolved.problems.join())
  let nodeName: string | undefined = 'worker-1'
  let hostName = 'n1'
  let isReadable = true
  const ok = () => ({ kind: 'ok', credentials: { nodeName: () => nodeName, authorityHashes: () => ['the same CA'] } }) as never
  const kubeconfig = new KubeconfigFile('/nowhere', () => (isReadable ? ok() : { kind: 'absent', detail: 'none' }), log)
  const stores = { files, layout, activation }
  const start = () => openIdentity({ ...PARTS, settings: resolved.settings, stores, kubeconfig, log, hostName: () => hostName })

  const identity = start()
  t.equal(identity.nodeName, 'worker-1')
  t.equal(identity.findChange(), undefined)
  // Nothing but the host name, which is another one, says then how the node is called.
  files.remove(layout.binding)
  isReadable = false
  kubeconfig.forget()
  t.equal(identity.findChange(), undefined, 'a kubeconfig that is being replaced')
  isReadable = true
  nodeName = 'worker-2'
  t.match(identity.findChange(), /names another node/)

  files.remove(layout.binding)
  nodeName = undefined
  hostName = 'localhost'
  const early = start()
  t.equal(early.nodeName, 'localhost')
  t.equal(early.findChange(), undefined)
  hostName = 'n1'
  t.match(early.findChange(), /names another node/, 'the machine has its host name')
})

t.test('a record of the node that cannot be read does not keep the agent from starting', async (t) => {
  const { disk, layout, start, log } = open('env')
  disk.readFaultOf = (path) => (path === layout.binding ? 'EIO' : undefined)
  t.equal(start(undefined).nodeName, hostname().trim().toLowerCase())
  t.match(log.said[0], /cannot read which node this state belongs to/)
})
