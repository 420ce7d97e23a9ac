// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process'
import { truncateSync } from 'node:fs'
import t from 'tap'
import { readMachineFacts } from '../../../src/kubelet/node-facts.ts'
import { findNeeds } from '../../../src/preflight/node/check-node.ts'
import { readSurroundings, type SurroundingSources } from '../../../src/preflight/node/read-surroundings.ts'
import { isLocalAddress, NOTHING_NEEDED, type SurroundingNeeds } from '../../../src/preflight/node/surroundings.ts'
import { optionsOf } from './node-options.ts'

const noFacts = async () => ({ ok: false, detail: 'not requested' }) as const

function read(needs: Partial<SurroundingNeeds>, sources: Partial<SurroundingSources> = {}, limitMs = 10_000) {
  return readSurroundings({ ...NOTHING_NEEDED, ...needs }, limitMs, { facts: noFacts, ...sources })
}

t.test('reads only the requested facts', async (t) => {
  let calls = 0
  const facts = async () => {
    calls++
    return noFacts()
  }
  const found = await read({}, { facts })
  t.equal(calls, 0)
  t.match(found, { memoryBytes: undefined, onlineCpus: undefined, cgroupVersion: undefined, listeners: undefined })
})

t.test('manifests, the use of cgroups, and addresses', async (t) => {
  const root = t.testdir({
    m: { 'a.yaml': 'x', 'b.json': 'x', '.hidden': 'x', folder: {}, link: t.fixture('symlink', 'a.yaml') },
    one: 'x',
    empty: {},
    proc: { net: { fib_trie: '  |-- 10.0.0.5\n     /32 host LOCAL\n', if_inet6: `${'0'.repeat(31)}1 01 80 10 80       lo\n` } },
    sys: {
      fs: {
        cgroup: {
          'cgroup.controllers': '',
          a: { 'memory.current': '300\n', 'memory.stat': 'anon 1\ninactive_file 100\n', 'pids.current': '7\n' },
          b: { 'memory.current': '300\n', 'pids.current': '7\n' },
        },
      },
    },
  })
  const found = await read({ manifests: ['/m', '/one', '/empty', '/gone'], cgroupUse: ['a', 'b', 'c'], localAddresses: true }, { root })
  t.same(Object.fromEntries(found.manifests), { '/m': 3, '/one': 1, '/empty': 0, '/gone': 0 })
  t.same(Object.fromEntries(found.cgroupUse), {
    a: { memoryBytes: 200, processes: 7 },
    b: { memoryBytes: undefined, processes: 7 },
  })
  t.ok(isLocalAddress('10.0.0.5', found.localAddresses ?? []))
  t.ok(isLocalAddress('::1', found.localAddresses ?? []))
  t.notOk(isLocalAddress('10.0.0.6', found.localAddresses ?? []))
  const v1 = t.testdir({
    v1: {
      sys: {
        fs: {
          cgroup: {
            memory: { a: { 'memory.usage_in_bytes': '300', 'memory.stat': 'total_inactive_file 50\n' } },
            pids: { a: { 'pids.current': '2' } },
          },
        },
      },
      proc: { sys: { net: { ipv4: { ip_nonlocal_bind: '1\n' } } }, net: { fib_trie: '' } },
    },
  })
  const old = await read({ cgroupUse: ['a'], localAddresses: true }, { root: `${v1}/v1` })
  t.same(Object.fromEntries(old.cgroupUse), { a: { memoryBytes: 250, processes: 2 } })
  t.equal(old.localAddresses, undefined, 'a process may bind to any address')
})

t.test('a simulated machine', async (t) => {
  const line = '0: 00000000:280A 00000000:0000 0A 0:0 00:0 0 0 0 4242 1 0'
  const root = t.testdir({
    proc: {
      sys: { vm: { overcommit_memory: '1\n', panic_on_oom: 'x\n' } },
      net: { tcp: `head\n${line}\n${line.replace('280A', '280B').replace('4242', '4343')}` },
      7: { fd: { 0: t.fixture('symlink', 'socket:[4242]'), 1: t.fixture('symlink', '/dev/null') } },
    },
    sys: {
      devices: { system: { cpu: { online: '0-2\n', present: '0-3\n' }, node: { online: '0\n' } } },
      fs: { cgroup: { cpu: { there: {} }, memory: { there: {}, half: {} } } },
    },
    etc: { file: 'x', folder: {} },
    state: '{"policyName":"none"}',
  })
  const found = await read(
    {
      topology: true,
      cgroups: ['there', 'half', 'nope'],
      listeners: true,
      kubeletPid: 7,
      sysctls: ['vm.overcommit_memory', 'vm.panic_on_oom', 'kernel.panic'],
      paths: ['/etc/file', '/etc/folder', '/etc/nope', '/etc/file/x', '/home/nope', '/tmp/nope'],
      texts: ['/state', '/nope', '/etc/folder'],
    },
    { root },
  )
  t.same(found.onlineCpus, new Set([0, 1, 2]))
  t.same(found.presentCpus, new Set([0, 1, 2, 3]))
  t.equal(found.cgroupVersion, 1)
  t.same(Object.fromEntries(found.cgroups), { there: true, half: false, nope: false })
  t.same(found.listeners, [
    { address: '0.0.0.0', port: 10250, owner: 'kubelet' },
    { address: '0.0.0.0', port: 10251, owner: 'other' },
  ])
  t.same(Object.fromEntries(found.sysctls), { 'vm.overcommit_memory': 1 })
  t.same(Object.fromEntries(found.paths), {
    '/etc/file': 'file',
    '/etc/folder': 'directory',
    '/etc/nope': 'missing',
    '/etc/file/x': 'missing',
  })
  t.same(Object.fromEntries(found.texts), { '/state': '{"policyName":"none"}', '/nope': null })
})

t.test('the huge pages of the NUMA nodes', async (t) => {
  const pages = (count: string) => ({ nr_hugepages: `${count}\n` })
  const node = {
    online: '0-2\n',
    node0: { hugepages: { 'hugepages-2048kB': pages('3'), 'hugepages-1048576kB': pages('0'), 'hugepages-64kB': pages('1') } },
    node1: { hugepages: { 'hugepages-2048kB': pages('3'), 'hugepages-1048576kB': {} } },
    node2: {},
  }
  const found = await read({ topology: true }, { root: t.testdir({ sys: { devices: { system: { node } } } }) })
  const sizes = new Map([...(found.nodeHugePages ?? [])].map(([id, each]) => [id, Object.fromEntries(each)]))
  t.same(
    Object.fromEntries(sizes),
    { 0: { 'hugepages-2Mi': 6 * 2 ** 20, 'hugepages-1Gi': 0, 'hugepages-64Ki': 2 ** 16 } },
    'of a node that tells all',
  )
})

t.test('cgroup v2', async (t) => {
  const root = t.testdir({ sys: { fs: { cgroup: { 'cgroup.controllers': 'cpu memory', there: {} } } } })
  const found = await read({ cgroups: ['there', 'nope'] }, { root })
  t.equal(found.cgroupVersion, 2)
  t.same(Object.fromEntries(found.cgroups), { there: true, nope: false })
  t.equal((await read({ cgroups: [] }, { root: t.testdirName.replace(/$/, '/nope') })).cgroupVersion, undefined)
})

t.test('without access to kubelet, the owner of a socket is unknown', async (t) => {
  const root = t.testdir({ proc: { net: { tcp: '0: 00000000:280A 00000000:0000 0A 0:0 00:0 0 0 0 1 1 0' } } })
  t.match((await read({ listeners: true, kubeletPid: 7 }, { root })).listeners, [{ owner: 'unknown' }])
  t.match((await read({ listeners: true }, { root })).listeners, [{ owner: 'unknown' }])
})

t.test("without access to kubelet's descriptors, the owner of a socket is unknown", async (t) => {
  // proc(5): the owner of a process may list its descriptors, but reading the links needs ptrace
  // access. Here a file that is not a link cannot be read.
  const tcp = '0: 00000000:280A 00000000:0000 0A 0:0 00:0 0 0 0 1 1 0'
  const root = t.testdir({ proc: { net: { tcp }, 7: { fd: { 0: t.fixture('symlink', '/dev/null'), 1: 'not a link' } } } })
  t.match((await read({ listeners: true, kubeletPid: 7 }, { root })).listeners, [{ owner: 'unknown' }])
})

t.test('a fact that takes too long or fails stays unknown', async (t) => {
  const stuck = await read({ memory: true, paths: ['/'] }, { facts: () => new Promise<never>(() => {}) }, 200)
  t.equal(stuck.memoryBytes, undefined)
  t.same([...stuck.paths], [['/', 'directory']], 'the other facts are known')
  const broken = await read({ memory: true }, { facts: () => Promise.reject(new Error('no')) })
  t.equal(broken.memoryBytes, undefined)
})

t.test('a text that is no regular file, or too long, is not read, and the others are', async (t) => {
  const root = t.testdir({ text: 'x', long: '', zero: t.fixture('symlink', '/dev/zero'), link: t.fixture('symlink', 'text') })
  execFileSync('mkfifo', [`${root}/pipe`])
  truncateSync(`${root}/long`, (16 << 20) + 1)
  const found = await read({ texts: ['/pipe', '/zero', '/long', '/link', '/text'] }, { root }, 1000)
  t.same(Object.fromEntries(found.texts), { '/link': 'x', '/text': 'x' })
})

t.test('file systems, and the memory of all processes', async (t) => {
  const root = t.testdir({
    k: {},
    home: {},
    sys: { fs: { cgroup: { 'cgroup.controllers': '', 'memory.stat': 'anon 300\nfile 200\ninactive_file 100\n' } } },
  })
  const found = await read({ fileSystems: ['/k', '/gone', '/home'], cgroupUse: ['.'] }, { root })
  t.same([...found.fileSystems.keys()], ['/k'], 'the sandbox of the agent may have put another one there')
  const { bytes } = found.fileSystems.get('/k') ?? {}
  const [whole = 0, left = 0, size = 0] = execFileSync('stat', ['--file-system', '--format=%b %a %S', root])
    .toString()
    .split(' ')
    .map(Number)
  t.equal(bytes?.capacity, whole * size)
  // Others write there meanwhile.
  t.ok(bytes !== undefined && Math.abs(bytes.available / bytes.capacity - left / whole) < 0.05)
  t.same(Object.fromEntries(found.cgroupUse), { '.': { memoryBytes: 400, processes: undefined } })
  const v1 = t.testdir({
    sys: { fs: { cgroup: { memory: { 'memory.usage_in_bytes': '700', 'memory.stat': 'inactive_file 1\ntotal_inactive_file 50\n' } } } },
  })
  t.same(Object.fromEntries((await read({ cgroupUse: ['.'] }, { root: v1 })).cgroupUse), {
    '.': { memoryBytes: 650, processes: undefined },
  })
})

t.test('drop-ins and locks of logind', async (t) => {
  const dropIns = (files: NonNullable<Parameters<typeof t.testdir>[0]>) => ({ systemd: { 'logind.conf.d': files } })
  const root = t.testdir({
    etc: dropIns({ '50-x.conf': 'etc', 'b.conf': t.fixture('symlink', '/dev/null'), 'a.txt': 'x' }),
    usr: { lib: dropIns({ '50-x.conf': 'usr', 'b.conf': 'usr', '99-kubelet.conf': 'own' }) },
    run: { systemd: { inhibit: { 1: 'WHO=kubelet\n', '1.ref': '' } } },
  })
  const { logind } = await read({ logind: true }, { root })
  t.same(
    [...(logind?.dropIns ?? [])],
    [
      ['/etc/systemd/logind.conf.d/50-x.conf', 'etc'],
      ['/usr/lib/systemd/logind.conf.d/99-kubelet.conf', 'own'],
      ['/etc/systemd/logind.conf.d/b.conf', ''],
    ],
  )
  t.same(logind?.locks, ['WHO=kubelet\n'])
  t.same((await read({ logind: true }, { root: t.testdir({ empty: {} }) })).logind, { dropIns: new Map(), locks: [] })
  t.equal((await read({}, { root })).logind, undefined)
})

t.test('this machine', async (t) => {
  const needs = findNeeds({ protectKernelDefaults: true, reservedSystemCPUs: '0' }, optionsOf(30))
  const found = await readSurroundings(needs, 10_000, { facts: () => readMachineFacts(10_000) })
  t.ok((found.memoryBytes ?? 0) > 2 ** 20)
  t.ok(found.onlineCpus === undefined || found.onlineCpus.size > 0)
  t.ok(found.listeners !== undefined)
})
