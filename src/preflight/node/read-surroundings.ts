// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the facts about this node that a candidate needs, and no others. Never throws and never
 * takes longer than its limit: facts not found by then stay unknown, as do those that the agent's
 * own sandbox hides. Changes nothing, starts nothing and connects to nothing: `read-runtime.ts`
 * asks the container runtime.
 */
import { constants } from 'node:fs'
import { open, readdir, readFile, readlink, stat, statfs } from 'node:fs/promises'
import { posix } from 'node:path'
import type { MachineFactsResult } from '../../kubelet/node-facts.ts'
import { type ListeningSocket, parseListeners } from '../../kubelet/port-holder.ts'
import { errorCode } from '../../values/errors.ts'
import { joinPending } from '../../values/join-pending.ts'
import { type CpuSet, parseCpuSet } from '../cpu-set.ts'
import {
  type CgroupUse,
  type FileSystem,
  type Listener,
  type LocalNetwork,
  type LogindFacts,
  NOTHING_KNOWN,
  type PathState,
  parseFibTrie,
  parseIfInet6,
  ROOT_CGROUP,
  type SurroundingNeeds,
  type Surroundings,
} from './surroundings.ts'

export interface SurroundingSources {
  /** Memory and swap. */
  facts(): Promise<MachineFactsResult>
  /** Root directory of /proc, /sys and all other paths; `/` except in tests. */
  readonly root?: string
}

export async function readSurroundings(needs: SurroundingNeeds, limitMs: number, sources: SurroundingSources): Promise<Surroundings> {
  const found = { ...NOTHING_KNOWN }
  const limit = new AbortController()
  const late = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, limitMs)
    limit.signal.addEventListener('abort', () => clearTimeout(timer))
  })
  // The facts of a part that fails stay unknown.
  const parts = listParts(needs, sources).map((part) => part.then((facts) => void Object.assign(found, facts)).catch(() => {}))
  await Promise.race([Promise.all(parts), late])
  limit.abort()
  // A copy: facts that come late must not change it.
  return { ...found }
}

function listParts(needs: SurroundingNeeds, sources: SurroundingSources): Promise<Partial<Surroundings>>[] {
  const machine = new Machine(sources.root ?? '/')
  return [
    ...(needs.memory ? [readMemory(sources)] : []),
    ...(needs.topology ? [machine.topology()] : []),
    ...(needs.cgroups === undefined ? [] : [machine.cgroups(needs.cgroups)]),
    ...(needs.listeners ? [machine.listeners(needs.kubeletPid).then((listeners) => ({ listeners }))] : []),
    ...(needs.localAddresses ? [machine.localAddresses().then((localAddresses) => ({ localAddresses }))] : []),
    ...(needs.logind ? [machine.logind().then((logind) => ({ logind }))] : []),
    ...findEach(needs.manifests, 'manifests', (path) => machine.manifests(path)),
    ...findEach(needs.cgroupUse, 'cgroupUse', (name) => machine.cgroupUse(name)),
    ...findEach(needs.paths, 'paths', (path) => machine.path(path)),
    ...findEach(needs.fileSystems, 'fileSystems', (path) => machine.fileSystem(path)),
    ...findEach(needs.texts, 'texts', (path) => machine.text(path)),
    ...findEach(needs.sysctls, 'sysctls', (name) => machine.sysctl(name)),
  ]
}

async function readMemory({ facts }: SurroundingSources): Promise<Partial<Surroundings>> {
  const result = await facts()
  return result.ok ? { memoryBytes: result.facts.memoryBytes, swapBytes: result.facts.swapBytes } : {}
}

type ByName = {
  readonly [Fact in keyof Surroundings]: Surroundings[Fact] extends ReadonlyMap<string, infer Value> ? Value : never
}

/**
 * One part for each name: a value that is not found in time leaves the others known. Leaves out
 * names whose value is unknown.
 */
function findEach<Fact extends keyof Surroundings>(
  names: readonly string[],
  fact: Fact,
  find: (name: string) => Promise<ByName[Fact] | undefined>,
): Promise<Partial<Surroundings>>[] {
  const known = new Map<string, ByName[Fact]>()
  return names.map(async (name) => {
    const value = await find(name)
    if (value !== undefined) known.set(name, value)
    return { [fact]: new Map(known) }
  })
}

/**
 * systemd.exec(5): ProtectHome=, PrivateTmp= and PrivateDevices= replace these with empty
 * directories.
 */
const HIDDEN_FROM_US = ['/home', '/root', '/run/user', '/tmp', '/var/tmp', '/dev']
const LONGEST_TEXT = 16 << 20
const INHIBITORS = '/run/systemd/inhibit'
/**
 * File systems whose statfs(2) tells kubelet something else than us: ZFS, which it asks in another
 * way, and NFS and FUSE, whose blocks have two sizes. Numbers of linux/magic.h.
 */
const MEASURED_OTHERWISE = [0x2fc12fc1, 0x6969, 0x65735546]

const statOf = joinPending((path) => stat(path))
const statfsOf = joinPending((path) => statfs(path))

class Machine {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  at(path: string): string {
    return posix.join(this.#root, path)
  }

  async path(path: string): Promise<PathState | undefined> {
    try {
      const facts = await statOf(this.at(path))
      return facts.isFile() ? 'file' : facts.isDirectory() ? 'directory' : 'other'
    } catch (error) {
      return isAbsence(error) && !isHidden(path) ? 'missing' : undefined
    }
  }

  /** `getVfsStats` of google/cadvisor, which kubelet asks: by statfs(2). */
  async fileSystem(path: string): Promise<FileSystem | undefined> {
    if (isHidden(path)) return undefined
    const { type, bsize, blocks, bavail, files, ffree } = await statfsOf(this.at(path))
    if (MEASURED_OTHERWISE.includes(type) || blocks === 0) return undefined
    const bytes = { capacity: blocks * bsize, available: bavail * bsize }
    return { bytes, inodes: files === 0 ? undefined : { capacity: files, available: ffree } }
  }

  async text(path: string): Promise<string | null | undefined> {
    try {
      // A config can name any path. To open a device can have effects, and a pipe has no end.
      return (await statOf(this.at(path))).isFile() ? await readBounded(this.at(path)) : undefined
    } catch (error) {
      return isAbsence(error) ? null : undefined
    }
  }

  /** `listConfig`, pkg/kubelet/config/file.go: every file whose name does not begin with a dot. */
  async manifests(path: string): Promise<number | undefined> {
    const state = await this.path(path)
    if (state !== 'directory') return state === 'file' ? 1 : state === 'missing' ? 0 : undefined
    const entries = await readdir(this.at(path), { withFileTypes: true })
    return entries.filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && !entry.name.startsWith('.')).length
  }

  /**
   * cgroups(7): in v2 a cgroup has one directory, in v1 one for each controller. The root of v2 has
   * no memory.current: what it uses is `anon` and `file` (`rootStatsFromMeminfo`, runc 1.2, kubelet
   * 1.32 and later). An older kubelet counts the kernel's own memory there, too.
   */
  async cgroupUse(name: string): Promise<CgroupUse | undefined> {
    const isV2 = (await this.path('/sys/fs/cgroup/cgroup.controllers')) === 'file'
    const [memory, pids] = isV2 ? ['', ''] : ['memory/', 'pids/']
    const number = async (path: string) => Number.parseInt((await this.text(`/sys/fs/cgroup/${path}`)) ?? '', 10)
    const [counted, processes, stat] = await Promise.all([
      number(`${memory}${name}/${isV2 ? 'memory.current' : 'memory.usage_in_bytes'}`),
      number(`${pids}${name}/pids.current`),
      this.text(`/sys/fs/cgroup/${memory}${name}/memory.stat`),
    ])
    const partOf = (key: string) => Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(stat ?? '')?.[1])
    const used = isV2 && name === ROOT_CGROUP ? partOf('anon') + partOf('file') : counted
    const cache = partOf(isV2 ? 'inactive_file' : 'total_inactive_file')
    const known = (value: number) => (Number.isSafeInteger(value) && value >= 0 ? value : undefined)
    const use = { memoryBytes: known(used - cache), processes: known(processes) }
    return use.memoryBytes === undefined && use.processes === undefined ? undefined : use
  }

  /**
   * undefined: unknown, or a process may bind to any address (`ip_nonlocal_bind`, ip-sysctl.rst).
   */
  async localAddresses(): Promise<readonly LocalNetwork[] | undefined> {
    const anyAddress = ['net.ipv4.ip_nonlocal_bind', 'net.ipv6.ip_nonlocal_bind'].map((name) => this.sysctl(name).catch(() => 0))
    if ((await Promise.all(anyAddress)).includes(1)) return undefined
    const [trie, inet6] = await Promise.all([this.text('/proc/net/fib_trie'), this.text('/proc/net/if_inet6')])
    return typeof trie === 'string' ? [...parseFibTrie(trie), ...parseIfInet6(inet6 ?? '')] : undefined
  }

  /** systemd.unit(5) of logind.conf.d: of files of one name, that of the first directory counts. */
  async logind(): Promise<LogindFacts> {
    const folders = ['/etc', '/run', '/usr/local/lib', '/usr/lib', '/lib'].map((folder) => `${folder}/systemd/logind.conf.d`)
    const lists = await Promise.all(folders.map(async (folder) => ({ folder, names: await readdir(this.at(folder)).catch(() => []) })))
    const paths = new Map(lists.reverse().flatMap(({ folder, names }) => names.map((name) => [name, `${folder}/${name}`] as const)))
    const sorted = [...paths].filter(([name]) => name.endsWith('.conf')).sort(([a], [b]) => (a < b ? -1 : 1))
    const dropIns = await Promise.all(sorted.map(async ([, path]) => [path, (await this.text(path)) ?? ''] as const))
    // `inhibitor_save`, src/login/logind-inhibit.c of systemd. Beside each lock lies a pipe.
    const names = await readdir(this.at(INHIBITORS)).catch(() => [])
    const locks = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => this.text(`${INHIBITORS}/${name}`)))
    return { dropIns: new Map(dropIns), locks: locks.map((text) => text ?? '') }
  }

  async sysctl(name: string): Promise<number | undefined> {
    const text = (await readFile(this.at(`/proc/sys/${name.replaceAll('.', '/')}`), 'utf8')).trim()
    return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined
  }

  async topology(): Promise<Partial<Surroundings>> {
    const set = async (path: string) => parseCpuSet(await readFile(this.at(path), 'utf8').catch(() => 'unknown'))
    const [onlineCpus, presentCpus, numaNodes] = await Promise.all([
      set('/sys/devices/system/cpu/online'),
      set('/sys/devices/system/cpu/present'),
      set('/sys/devices/system/node/online'),
    ])
    const nodes = [...(numaNodes ?? [])]
    const nodeHugePages = new Map((await Promise.all(nodes.map(async (node) => this.#hugePages(node)))).flat())
    const ofNodes = { nodeCpus: await this.#nodeCpus(nodes), nodeMemory: await this.#nodeMemory(nodes), nodeHugePages }
    return { onlineCpus, presentCpus, numaNodes, ...ofNodes }
  }

  /** undefined: a NUMA node does not say, or there is none. */
  async #nodeCpus(nodes: readonly number[]): Promise<CpuSet | undefined> {
    const lists = await Promise.all(nodes.map((node) => this.text(`/sys/devices/system/node/node${node}/cpulist`)))
    const told = lists.flatMap((list) => (typeof list === 'string' ? [list.trim()] : []))
    return told.length === 0 || told.length < nodes.length ? undefined : parseCpuSet(told.filter((list) => list !== '').join())
  }

  /** `GetHugePagesInfo` of google/cadvisor. Empty: the NUMA node does not say. */
  async #hugePages(node: number): Promise<readonly (readonly [node: number, bytes: ReadonlyMap<string, number>])[]> {
    const folder = `/sys/devices/system/node/node${node}/hugepages`
    const names = await readdir(this.at(folder)).catch(() => [])
    const sizes = await Promise.all(
      names.map(async (name) => {
        const kib = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1])
        const pages = /^\d+$/.exec(((await this.text(`${folder}/${name}/nr_hugepages`)) ?? '').trim())?.[0]
        return [`hugepages-${binary(kib)}`, kib * 1024 * Number(pages)] as const
      }),
    )
    return sizes.length > 0 && sizes.every(([, bytes]) => Number.isSafeInteger(bytes)) ? [[node, new Map(sizes)]] : []
  }

  /** `getNodeMemInfo` of google/cadvisor, which kubelet asks. */
  async #nodeMemory(nodes: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const texts = await Promise.all(nodes.map((node) => this.text(`/sys/devices/system/node/node${node}/meminfo`)))
    const kib = texts.map((text) => Number(/MemTotal:\s*([0-9]+) kB/.exec(text ?? '')?.[1]))
    return new Map(nodes.flatMap((node, at) => (Number.isSafeInteger(kib[at]) ? [[node, (kib[at] ?? 0) * 1024] as const] : [])))
  }

  /**
   * cgroups(7): only a v2 hierarchy has this file; in v1 each controller is a hierarchy of its own.
   */
  async cgroups(names: readonly string[]): Promise<Partial<Surroundings>> {
    const isV2 = (await this.path('/sys/fs/cgroup/cgroup.controllers')) === 'file'
    const hierarchies = isV2 ? [''] : ['cpu', 'memory']
    const states = await Promise.all(hierarchies.map((hierarchy) => this.path(`/sys/fs/cgroup/${hierarchy}`)))
    if (!states.every((state) => state === 'directory')) return {}
    const exists = async (name: string) => {
      const found = await Promise.all(hierarchies.map((hierarchy) => this.path(`/sys/fs/cgroup/${hierarchy}/${name}`)))
      if (found.includes('missing')) return false
      return found.every((state) => state === 'directory') ? true : undefined
    }
    const found = await Promise.all(names.map(async (name) => [name, await exists(name)] as const))
    return { cgroupVersion: isV2 ? 2 : 1, cgroups: new Map(found.flatMap(([name, is]) => (is === undefined ? [] : [[name, is]]))) }
  }

  async listeners(kubeletPid: number | undefined): Promise<readonly Listener[]> {
    // A kernel without IPv6 does not have the second file.
    const tables = [readFile(this.at('/proc/net/tcp'), 'utf8'), readFile(this.at('/proc/net/tcp6'), 'utf8').catch(() => '')]
    const sockets = (await Promise.all(tables)).flatMap(parseListeners)
    const own = kubeletPid === undefined ? undefined : await this.#socketsOf(kubeletPid).catch(() => undefined)
    const ownerOf = ({ inode }: ListeningSocket) => (own === undefined ? 'unknown' : own.has(inode) ? 'kubelet' : 'other')
    return sockets.map((socket) => ({ address: socket.address, port: socket.port, owner: ownerOf(socket) }))
  }

  /**
   * Inodes of the process' sockets. Reading the links needs a capability that the agent's service
   * does not have; then the owner of every socket is unknown.
   */
  async #socketsOf(pid: number): Promise<ReadonlySet<string>> {
    const folder = this.at(`/proc/${pid}/fd`)
    const links = await Promise.all((await readdir(folder)).map((fd) => readlink(posix.join(folder, fd)).catch(ifGone)))
    return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []))
  }
}

/** undefined: too long. Files of /proc say that their size is 0, and some of them wait for data. */
async function readBounded(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const parts: Buffer[] = []
  for await (const part of file.createReadStream({ end: LONGEST_TEXT })) parts.push(part)
  const bytes = Buffer.concat(parts)
  return bytes.length > LONGEST_TEXT ? undefined : bytes.toString('utf8')
}

/** The descriptor was closed in the meantime. */
function ifGone(error: unknown): string {
  if (isAbsence(error)) return ''
  throw error
}

function isHidden(path: string): boolean {
  return HIDDEN_FROM_US.some((hidden) => path === hidden || path.startsWith(`${hidden}/`))
}

function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')
}

/** As kubelet writes a size: in the largest unit that divides it. */
function binary(kib: number): string {
  const steps = [1024 ** 3, 1024 ** 2, 1024, 1]
  const at = steps.findIndex((step) => kib % step === 0)
  return `${kib / (steps[at] ?? 1)}${['Ti', 'Gi', 'Mi', 'Ki'][at]}`
}
