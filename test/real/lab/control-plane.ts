// SPDX-License-Identifier: Apache-2.0
/**
 * A real control plane for one test: etcd and kube-apiserver on loopback, with certificates of its
 * own, the authorizers and the admission plugin that limit a node's identity on a real cluster, and
 * a temporary directory that holds all of it and goes with it. No controller manager and no
 * scheduler run; nodes are made by hand, as kubelet would register them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Binaries, ensureBinaries } from './build.ts'
import { ensureModernKubernetes } from './build-modern-kubernetes.ts'
import { createAuthority, createSigningKey, issueCertificate } from './certificates.ts'
import { eventually } from './eventually.ts'
import { type Cluster, type NodeIdentity, writeAdminKubeconfig, writeNodeIdentity } from './identities.ts'
import { modernKubeletMinor } from './node-choice.ts'
import { onProcessEnd, run } from './processes.ts'
import { readAsAdministrator } from './read-objects.ts'
import { type ApiserverOptions, createServers, type Servers } from './servers.ts'

export interface ControlPlane {
  /** `https://127.0.0.1:PORT`; it stays the same when the server is stopped and started. */
  readonly server: string
  readonly directory: string
  readonly caFile: string
  readonly adminKubeconfig: string
  readonly binaries: Binaries
  /** Whether its Nodes have `spec.configSource` and `status.config`; otherwise it drops both. */
  readonly hasConfigSource: boolean
  /**
   * The kubeconfig of a node's own identity, `system:node:NAME`, made at the first call; the
   * certificate is a file on disk.
   */
  nodeKubeconfig(name: string): Promise<string>
  /** Puts a new client certificate in the place that the node's kubeconfig names. */
  rotateNodeCertificate(name: string, options?: { readonly validMs?: number }): Promise<void>
  /**
   * Runs kubectl, as the administrator unless told otherwise, and returns what it printed. Throws a
   * `CommandError` if it fails.
   */
  kubectl(args: readonly string[], options?: { readonly input?: string; readonly kubeconfig?: string }): Promise<string>
  /**
   * The object that `kubectl get -o json` gives the administrator, by its path in the API. For
   * objects that are asked for again and again: each kubectl takes as much CPU as an idle node in a
   * second.
   */
  read(path: string): Promise<string>
  createNode(name: string): Promise<void>
  /**
   * Changes a Node in etcd, past the API server: to what only an earlier release would have taken.
   */
  rewriteStoredNode(name: string, rewrite: (node: StoredNode) => StoredNode): Promise<void>
  /**
   * Lets all nodes use one ConfigMap by RBAC: what a cluster needs whose Node authorizer knows
   * nothing of `configSource`.
   */
  grantNodesConfigMap(namespace: string, name: string, verbs?: readonly string[]): Promise<void>
  /** Ends the API server; clients are refused. */
  stopApiserver(): Promise<void>
  /** Starts it again, with the same address and data. */
  startApiserver(): Promise<void>
  /** Connections stay open but nothing answers, until `thawApiserver`. */
  freezeApiserver(): void
  thawApiserver(): void
  /**
   * Copies the data as it is now; both servers are down meanwhile. Returns a name for
   * `restoreEtcd`.
   */
  saveEtcd(): Promise<string>
  /**
   * Goes back to that data, as an administrator who restores a backup does: versions are handed out
   * a second time.
   */
  restoreEtcd(saved: string): Promise<void>
  /** Ends everything and removes the directory. */
  stop(): Promise<void>
}

interface StoredNode {
  readonly metadata: { readonly resourceVersion?: string }
  readonly spec: object
  readonly status: object
}

/** Starts one and waits until it is ready; leaves nothing behind if that fails. */
export async function startControlPlane(options: ApiserverOptions = {}): Promise<ControlPlane> {
  const known = await ensureBinaries()
  const binaries = options.release === 'new' ? { ...known, ...(await ensureModernKubernetes(modernKubeletMinor())) } : known
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-cfg-agent-lab-'))
  const forget = onProcessEnd(() => rmSync(directory, { recursive: true, force: true }))
  const removeDirectory = async (): Promise<void> => {
    await rm(directory, { recursive: true, force: true })
    forget()
  }
  const servers = await createServers(binaries, directory, options)
  try {
    const [cluster] = await Promise.all([createCluster(directory, servers.url), servers.startEtcd()])
    const [adminKubeconfig] = await Promise.all([writeAdminKubeconfig(cluster), servers.startApiserver()])
    const plane = assemble(cluster, adminKubeconfig, binaries, servers, removeDirectory)
    // Ready is said before these are there.
    const namespaces = ['default', 'kube-system', 'kube-node-lease'].map((name) => `/api/v1/namespaces/${name}`)
    await eventually(() => Promise.all(namespaces.map((path) => plane.read(path))), { what: 'the system namespaces exist' })
    return plane
  } catch (error) {
    await servers.stop()
    await removeDirectory()
    throw error
  }
}

async function createCluster(directory: string, server: string): Promise<Cluster> {
  const authority = await createAuthority(directory)
  await issueCertificate(authority, join(directory, 'server'), { subject: '/CN=kube-apiserver', usage: 'serverAuth' })
  // With which it asks a real kubelet, when somebody asks for a Node's `proxy/configz`.
  const toKubelet = { subject: '/O=system:masters/CN=kube-apiserver-kubelet-client', usage: 'clientAuth' } as const
  await issueCertificate(authority, join(directory, 'kubelet-client'), toKubelet)
  await createSigningKey(join(directory, 'service-account.key'))
  return { directory, server, authority }
}

function assemble(
  cluster: Cluster,
  adminKubeconfig: string,
  binaries: Binaries,
  servers: Servers,
  removeDirectory: () => Promise<void>,
): ControlPlane {
  const { directory } = cluster
  const nodes = new Map<string, Promise<NodeIdentity>>()
  const identityOf = (name: string): Promise<NodeIdentity> => {
    const identity = nodes.get(name) ?? writeNodeIdentity(cluster, name)
    nodes.set(name, identity)
    return identity
  }
  const kubectl: ControlPlane['kubectl'] = async (args, { input, kubeconfig = adminKubeconfig } = {}) => {
    const own = ['--kubeconfig', kubeconfig, '--cache-dir', join(directory, 'kubectl-cache')]
    // The program ends before its garbage matters.
    const env = { GOGC: 'off' }
    return (await run(binaries.kubectl, [...own, ...args], { env, ...(input !== undefined && { input }) })).stdout
  }
  const create = async (object: object): Promise<void> => void (await kubectl(['create', '-f', '-'], { input: JSON.stringify(object) }))
  return {
    server: cluster.server,
    directory,
    caFile: cluster.authority.certificateFile,
    adminKubeconfig,
    binaries,
    hasConfigSource: servers.hasConfigSource,
    nodeKubeconfig: async (name) => (await identityOf(name)).kubeconfig,
    rotateNodeCertificate: async (name, options) => (await identityOf(name)).rotate(options),
    kubectl,
    read: (path) => readAsAdministrator(cluster, path),
    createNode: (name) => create({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { 'kubernetes.io/hostname': name } } }),
    async rewriteStoredNode(name, rewrite) {
      const node: StoredNode = JSON.parse(await kubectl(['get', 'node', name, '-o', 'json']))
      // A stored object has no version: it is that of its key. Stored as JSON it is read like any
      // other.
      const metadata = { ...node.metadata, resourceVersion: undefined }
      await servers.putStored(`/registry/minions/${name}`, JSON.stringify({ ...rewrite(node), metadata }))
    },
    async grantNodesConfigMap(namespace, name, verbs = ['get', 'list', 'watch']) {
      const apiVersion = 'rbac.authorization.k8s.io/v1'
      const apiGroup = 'rbac.authorization.k8s.io'
      const metadata = { namespace, name: `nodes-read-${name}` }
      const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs }]
      await create({ apiVersion, kind: 'Role', metadata, rules })
      const roleRef = { apiGroup, kind: 'Role', name: metadata.name }
      const subjects = [{ apiGroup, kind: 'Group', name: 'system:nodes' }]
      await create({ apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects })
    },
    stopApiserver: () => servers.stopApiserver(),
    startApiserver: () => servers.startApiserver(),
    freezeApiserver: () => servers.signalApiserver('SIGSTOP'),
    thawApiserver: () => servers.signalApiserver('SIGCONT'),
    async saveEtcd() {
      const saved = join(directory, `etcd-saved-${Date.now()}`)
      await servers.whileDown((data) => cp(data, saved, { recursive: true }))
      return saved
    },
    restoreEtcd: (saved) =>
      servers.whileDown(async (data) => {
        await rm(data, { recursive: true })
        await cp(saved, data, { recursive: true })
      }),
    async stop() {
      await servers.stop()
      await removeDirectory()
    },
  }
}
