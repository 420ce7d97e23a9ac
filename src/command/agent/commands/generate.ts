// SPDX-License-Identifier: Apache-2.0
/**
 * `generate`: the config that this node's kubelet runs with, as a file for a ConfigMap; replaces
 * `curl .../configz | jq` of the Kubernetes documentation. The config goes to standard output,
 * everything else to standard error. A default that is written out would stay where a later kubelet
 * has another one, so mere defaults are left out.
 *
 * Rules: pkg/kubelet/apis/config, and `configz.InstallHandler` in k8s.io/component-base, which
 * omits kind and apiVersion.
 */

import { isDeepStrictEqual } from 'node:util'
import { API_VERSION, decodeConfig, decodeText, KIND } from '../../../kubelet/decode.ts'
import { LAST_IN_TABLES } from '../../../kubelet/fields.ts'
import { describeWrapper, isWholeAnswer } from '../../../kubelet/wrappers.ts'
import { COVERED, formatVersion, isCovered, type KubeletVersion } from '../../../preflight/kubelet-version.ts'
import { describeUnreadable } from '../../../values/errors.ts'
import { isObject, type JsonObject } from '../../../values/is-object.ts'
import { type CommandLine, EXIT, type ExitCode, Failure, Misuse, switchOption } from '../../command.ts'
import { LONGEST_BYTES } from '../../manifest-text.ts'
import { formatJson, plainText } from '../../terminal.ts'
import { readWrapped } from '../../wrapped-text.ts'
import { fileOption, KUBELET_VERSION, readTextOption, readVersionOption } from '../candidate-options.ts'
import type { CommandContext, NodeCommand } from '../command.ts'
import { readActiveConfig } from '../config-text.ts'

export const generateCommand: NodeCommand = {
  name: 'generate',
  takes: 'node',
  group: 'Check configs',
  summary: "print this node's config as a file for a ConfigMap",
  description:
    'Prints the config that kubelet runs with, including what its flags set, as a KubeletConfiguration: a first version ' +
    'for a ConfigMap. Leaves out the defaults of that kubelet, so that a later kubelet uses its own; says what a later ' +
    'kubelet reads in another way. Asks kubelet 1.33 or later for /configz on its own port, which needs the right get on nodes/configz; an ' +
    "older one through the API server, which needs nodes/proxy. The node's own kubeconfig has neither right by itself: grant " +
    "nodes/configz, use an administrator's kubeconfig with --kubeconfig, or pass the response with --from-file.",
  options: [
    fileOption(
      'from-file',
      'read the response of /configz, or its kubeletconfig alone, from this file, or from standard input (-), instead of asking for it',
    ),
    { ...KUBELET_VERSION, help: 'of the kubelet whose response --from-file has, as in 1.36; without it, defaults are not left out' },
    switchOption('all', 'also print the defaults of this kubelet'),
    switchOption('offline', "print the config file that runs, as it is on disk, with kubelet's drop-ins, without flags and defaults"),
  ],
  examples: [
    ['generate --kubeconfig /root/.kube/config > kubelet.yaml', "read /configz with an administrator's kubeconfig"],
    [
      'generate --from-file configz.json --kubelet-version 1.36 > kubelet.yaml',
      'convert the output of kubectl get --raw /api/v1/nodes/NODE/proxy/configz',
    ],
    ['generate --offline > kubelet.yaml', 'use the file on disk, without an API server'],
  ],
  execute: generate,
}

/** @throws Failure in the functions below: there is no such config */
interface Generated {
  readonly text: string
  readonly config: JsonObject
}

async function generate(context: CommandContext, { options }: CommandLine): Promise<ExitCode> {
  const { terminal } = context
  const path = readTextOption(options, 'from-file')
  const isOffline = options.offline === 'true'
  const ignored = ['from-file', 'kubelet-version', 'all'].find((name) => !['', 'false'].includes(options[name] ?? ''))
  if (isOffline && ignored !== undefined) throw new Misuse(`--${ignored} and --offline exclude each other: give one of them`)
  const version = readVersionOption(options) ?? (path === undefined ? await context.runningVersion() : undefined)
  const defaultsOf = options.all === 'true' ? undefined : version
  const generated = isOffline ? await copyActive(context) : await convert(await readConfigz(path, context), defaultsOf, context)
  terminal.out(generated.text)
  const keepsAll = isOffline || options.all === 'true'
  const notes = [
    ...(keepsAll ? [] : remarkOnDefaults(version, path)),
    ...(version === undefined ? [] : await foretell(generated.config, version)),
    ...advise(generated.config),
  ]
  for (const line of notes) terminal.err(`${plainText(line)}\n`)
  return EXIT.fine
}

/** Whether mere defaults are left out, where nobody told `generate` to keep them. */
function remarkOnDefaults(version: KubeletVersion | undefined, path: string | undefined): readonly string[] {
  if (version === undefined) return ["Defaults are in it too, since kubelet's version is not known: --kubelet-version names it."]
  if (!isCovered(version)) return [`Defaults are in it too: the tables cover ${COVERED}, not ${formatVersion(version)}.`]
  if (path === undefined) return []
  return [
    'Defaults are left out. Where the node has activation: drop-in, a file below the config may set such a field to something else: --all writes them all.',
  ]
}

async function readConfigz(path: string | undefined, context: CommandContext): Promise<unknown> {
  if (path === undefined) return askConfigz(context)
  const reading = await context.readInput(path === '-' ? undefined : path, LONGEST_BYTES)
  if (reading.kind === 'unreadable') throw new Failure(`${path} ${describeUnreadable(reading.code)}`)
  if (reading.kind === 'too-large') throw new Failure(`${path} is not a response of /configz: it is too long`)
  const text = reading.bytes.toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    // The error of JSON.parse would quote the text.
    throw new Failure(`${path} is not a response of /configz: ${await nameOther(text, context)}`)
  }
}

async function nameOther(text: string, { yaml }: CommandContext): Promise<string> {
  const other = await readWrapped(text, yaml)
  switch (other.kind) {
    case 'none':
      return 'it is not JSON'
    case 'named':
      return other.problem
    case 'taken':
      return `it holds a config, in ${other.from}`
  }
}

async function askConfigz({ readConfigz, nodeName }: CommandContext): Promise<unknown> {
  const answer = await readConfigz()
  if (answer.kind === 'ok') return answer.object
  const isDenied = answer.kind === 'refused' && (answer.status === 401 || answer.status === 403)
  const advice = isDenied
    ? [NEEDED[answer.by], `use an administrator's kubeconfig with --kubeconfig, or pipe ${rawRequest(await nodeName())}`]
    : []
  throw new Failure([answer.detail, ...advice, '--offline uses the config file on disk'].join('; '))
}

const NEEDED = {
  kubelet: 'this needs the verb get on nodes/configz, which deploy/rbac/node-configz.yaml grants',
  'api-server': 'this needs the verb get on nodes/proxy, which gives access to all of kubelet: do not grant it to the node',
} as const

function rawRequest(nodeName: string): string {
  return `kubectl get --raw /api/v1/nodes/${nodeName}/proxy/configz into generate --from-file -`
}

/** @param defaultsOf the kubelet whose defaults are left out. undefined: none are */
async function convert(answer: unknown, defaultsOf: KubeletVersion | undefined, context: CommandContext): Promise<Generated> {
  const reported = findReported(answer)
  if (reported === undefined) {
    const other = describeWrapper(answer)
    throw new Failure(`not a response of /configz: ${other ?? 'it has no kubeletconfig'}`)
  }
  const own = await dropSelfSigned(reported, context)
  const head = { apiVersion: API_VERSION, kind: KIND }
  const whole = { ...head, ...own, ...head, ...emptyFields(own) }
  const checked = decodeConfig(JSON.stringify(whole), () => ({ ok: false, detail: 'not read as YAML' }))
  if (!checked.ok) throw new Failure(`kubelet returned a config that it would not accept: ${checked.detail}`)
  const config = defaultsOf === undefined ? whole : await dropDefaults(whole, defaultsOf, context)
  return { text: await formatConfig(config), config }
}

/**
 * Finds the config in the whole answer, or in what `jq .kubeletconfig` left of it, perhaps with a
 * kind.
 */
function findReported(answer: unknown): JsonObject | undefined {
  if (!isObject(answer)) return undefined
  if (isObject(answer.kubeletconfig)) return answer.kubeletconfig
  const { kind = KIND, apiVersion = API_VERSION } = answer
  return kind === KIND && apiVersion === API_VERSION && isWholeAnswer(answer) ? answer : undefined
}

async function dropDefaults(config: JsonObject, version: KubeletVersion, { mergeHere }: CommandContext): Promise<JsonObject> {
  if (!isCovered(version)) return config
  const [{ withoutDefaults }, { mergeAround }] = await Promise.all([
    import('../../../preflight/change/compare.ts'),
    import('../../../preflight/drop-ins/merge-drop-ins.ts'),
  ])
  const { order } = await mergeHere(config, 'assigned')
  if (order?.base === undefined) return withoutDefaults(config, version, (own) => ({ ...OF_KUBEADM, ...own }))
  // A field that the assigned config leaves out keeps the value of the files below it.
  return withoutDefaults(config, version, (own) => mergeAround({ ...OF_KUBEADM, ...own }, { ...order, above: [] }, version))
}

/**
 * Two fields that kubeadm sets where its ConfigMap kubelet-config does not:
 * `kubeletConfig.Default`, cmd/kubeadm/app/componentconfigs/kubelet.go; on a node with
 * systemd-resolved, `mutateResolverConfig`, kubelet_unix.go.
 */
const OF_KUBEADM = { cgroupDriver: 'systemd', resolvConf: '/run/systemd/resolve/resolv.conf' }

/** The fields that the last kubelet of the tables reads in another way. */
async function foretell(config: JsonObject, from: KubeletVersion): Promise<readonly string[]> {
  if (!isCovered(from)) return []
  const { describeMeanings, listMeaningChanges } = await import('../../../preflight/change/meaning.ts')
  const to = { major: 1, minor: LAST_IN_TABLES.minor, patch: 0 }
  const changes = listMeaningChanges(config, from, to).filter(({ kind }) => kind === 'value')
  return describeMeanings(changes, from, to, { locate: () => undefined }).map(
    ({ problem, advice }) => `${problem}${advice === undefined ? '' : `: ${advice}`}`,
  )
}

/** Kubelet's flags name the directory of the certificate that it makes itself. */
async function dropSelfSigned(config: JsonObject, { unit }: CommandContext): Promise<JsonObject> {
  const [{ withoutSelfSigned }, { collectFlags }] = await Promise.all([
    import('../../../preflight/configz/own-port.ts'),
    import('../../../preflight/change/kubelet-flags.ts'),
  ])
  const seen = await unit.observe()
  return withoutSelfSigned(config, collectFlags(seen.kind === 'known' ? (seen.command?.words ?? []) : []))
}

/**
 * /configz leaves out what is empty. These alone have a default where they are missing, which would
 * come back: `loadConfigFile`, cmd/kubelet/app/server.go, and `SetDefaults_KubeletConfiguration`.
 */
const NOT_EMPTY_BY_DEFAULT = { enforceNodeAllocatable: [], evictionHard: {} }

function emptyFields(config: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(NOT_EMPTY_BY_DEFAULT).filter(([name]) => config[name] === undefined))
}

/**
 * YAML, which is easier to edit. If YAML would not parse to the same value (a key such as <<),
 * JSON, which kubelet accepts as well.
 */
async function formatConfig(config: JsonObject): Promise<string> {
  const { formatDocument, parseDocument } = await import('../../../kubelet/yaml.ts')
  const text = formatDocument(config)
  const again = parseDocument(text)
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  return again.ok && isDeepStrictEqual(plain(again.value), plain(config)) ? text : formatJson(config)
}

async function copyActive(context: CommandContext): Promise<Generated> {
  const active = readActiveConfig(await context.observe(), context)
  if (!active.ok) throw new Failure(`cannot read the config that runs here: ${active.detail}`)
  const decoded = await decodeText(active.text, context.yaml)
  if (!decoded.ok) throw new Failure(`${active.name}: ${decoded.detail}`)
  const { config } = await context.mergeHere(decoded.config, active.place ?? 'assigned')
  if (!isDeepStrictEqual(config, decoded.config)) return { text: await formatConfig(config), config }
  const text = active.text.endsWith('\n') ? active.text : `${active.text}\n`
  return { text, config }
}

/** Fields whose values belong to one machine, so other nodes must not share them. */
const PER_MACHINE = [
  'address',
  'containerRuntimeEndpoint',
  'kubeReserved',
  'podCIDR',
  'providerID',
  'registerWithTaints',
  'reservedMemory',
  'reservedSystemCPUs',
  'resolvConf',
  'systemReserved',
  'tlsCertFile',
  'tlsPrivateKeyFile',
]
/** Values that fit every machine. */
const OF_NO_MACHINE: readonly unknown[] = ['', '0.0.0.0', '::', '/etc/resolv.conf']

function isOfOneMachine(value: unknown): boolean {
  if (isObject(value) || Array.isArray(value)) return Object.keys(value).length > 0
  return typeof value === 'string' && !OF_NO_MACHINE.includes(value)
}

function advise(config: JsonObject): string[] {
  const own = PER_MACHINE.filter((name) => isOfOneMachine(config[name]))
  return [
    'To create a ConfigMap from it, save it as kubelet.yaml and run:',
    '  kubectl -n kube-system create configmap node-config --from-file=kubelet=kubelet.yaml',
    'Nodes may read this name by deploy/rbac/node-configmaps.yaml: add another name to its Role first.',
    ...(own.length === 0 ? [] : [`Before other nodes use it, check the fields that may be specific to this node: ${own.join(', ')}.`]),
    ...(isObject(config.staticPodURLHeader) ? ['It contains staticPodURLHeader: everyone who may read the ConfigMap can read that.'] : []),
  ]
}
