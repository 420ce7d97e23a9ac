/**
 * `generate`: the config that this node's kubelet runs with, as a file for a ConfigMap; the documentation's `curl .../configz | jq` in one step. What is
 * generated goes to standard output, everything else to standard error.
 *
 * Rules: pkg/kubelet/apis/config, and `configz.InstallHandler` in k8s.io/component-base, which leaves kind and apiVersion out.
 */
import { isDeepStrictEqual } from 'node:util'
import { API_VERSION, decodeConfig, KIND } from '../../kubelet/decode.ts'
import { loadParser } from '../../kubelet/load-parser.ts'
import { switchKind } from '../../settings/setting-kinds.ts'
import { isObject, type JsonObject } from '../../values/is-object.ts'
import { readActiveConfig } from '../active-config.ts'
import { LONGEST_BYTES } from '../candidate.ts'
import { fileOption, readTextOption } from '../candidate-options.ts'
import { type CommandContext, EXIT, type ExitCode, type NodeCommand, type OptionValues } from '../command.ts'
import { formatJson } from '../format-json.ts'
import { plainText } from '../terminal.ts'

export const generateCommand: NodeCommand = {
  name: 'generate',
  takes: 'node',
  group: 'Judge',
  summary: "this node's config as a file for a ConfigMap",
  description:
    'Prints what kubelet runs with, flags and defaults included, as a KubeletConfiguration: the first version of a ConfigMap. Asks kubelet through the ' +
    "API server, for which the node's own kubeconfig has no right: name an administrator's with --kubeconfig, or give the answer with --from-file.",
  options: [
    fileOption('from-file', 'the answer of /configz in this file, or in standard input (-), and ask nobody'),
    {
      name: 'offline',
      kind: switchKind,
      initial: 'false',
      help: 'the config file that runs, as it is on disk: without flags and defaults',
    },
  ],
  examples: [
    ['generate --kubeconfig /root/.kube/config > kubelet.yaml', "as an administrator, with this node's name"],
    ['generate --from-file configz.json > kubelet.yaml', 'from kubectl get --raw /api/v1/nodes/NODE/proxy/configz'],
    ['generate --offline > kubelet.yaml', 'without an API server'],
  ],
  execute: generate,
}

type Generated = { readonly ok: true; readonly text: string; readonly config: JsonObject } | { readonly ok: false; readonly detail: string }

async function generate(context: CommandContext, options: OptionValues): Promise<ExitCode> {
  const { terminal } = context
  const path = readTextOption(options, 'from-file')
  if (path !== undefined && options.offline === 'true') {
    terminal.err('kubelet-cfg-agent generate: --from-file and --offline are two answers to one question: give one of them\n')
    return EXIT.usage
  }
  const generated = options.offline === 'true' ? await copyActive(context) : await convert(await readConfigz(path, context))
  if (!generated.ok) {
    terminal.err(`kubelet-cfg-agent generate: ${plainText(generated.detail)}\n`)
    return EXIT.failed
  }
  terminal.out(generated.text)
  for (const line of advise(generated.config)) terminal.err(`${line}\n`)
  return EXIT.fine
}

type Configz = { readonly ok: true; readonly answer: unknown } | { readonly ok: false; readonly detail: string }

async function readConfigz(path: string | undefined, context: CommandContext): Promise<Configz> {
  if (path === undefined) return askConfigz(context)
  const reading = await context.readInput(path === '-' ? undefined : path, LONGEST_BYTES)
  if (reading.kind === 'unreadable') return { ok: false, detail: `${path} cannot be read: ${reading.code}` }
  if (reading.kind === 'too-large') return { ok: false, detail: `${path} is no answer of /configz: it is too long` }
  try {
    return { ok: true, answer: JSON.parse(reading.bytes.toString('utf8')) }
  } catch {
    // The error of the engine quotes the text.
    return { ok: false, detail: `${path} is no answer of /configz: it is not JSON` }
  }
}

async function askConfigz({ api, nodeName }: CommandContext): Promise<Configz> {
  const path = `/api/v1/nodes/${nodeName()}/proxy/configz`
  const answer = await api.request({ method: 'GET', path })
  switch (answer.kind) {
    case 'ok':
      return { ok: true, answer: answer.object }
    case 'unreachable':
      return { ok: false, detail: `${answer.detail}; --offline takes the config file on disk` }
    case 'refused': {
      const may = answer.status === 401 || answer.status === 403
      const advice = may
        ? `this takes the verb get on nodes/proxy, which opens all of kubelet: do not grant it to the node, name an administrator's kubeconfig with --kubeconfig, ` +
          `or pipe kubectl get --raw ${path} into generate --from-file -; --offline takes the config file on disk`
        : '--offline takes the config file on disk'
      return { ok: false, detail: `${answer.detail}; ${advice}` }
    }
  }
}

async function convert(configz: Configz): Promise<Generated> {
  if (!configz.ok) return configz
  const { answer } = configz
  const config = isObject(answer) ? answer.kubeletconfig : undefined
  if (!isObject(config)) return { ok: false, detail: 'this is no answer of /configz: it has no kubeletconfig' }
  const head = { apiVersion: API_VERSION, kind: KIND }
  const whole = { ...head, ...config, ...head }
  const checked = decodeConfig(JSON.stringify(whole), () => ({ ok: false, detail: 'not read as YAML' }))
  if (!checked.ok) return { ok: false, detail: `kubelet answered with what it would not read: ${checked.detail}` }
  return { ok: true, text: await spell(whole), config: whole }
}

/** As YAML, for people to go on with. What YAML cannot spell so that it reads the same again (a key such as <<) is left as JSON, which kubelet takes as well. */
async function spell(config: JsonObject): Promise<string> {
  const { formatDocument, parseDocument } = await import('../../kubelet/yaml.ts')
  const text = formatDocument(config)
  const again = parseDocument(text)
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  return again.ok && isDeepStrictEqual(plain(again.value), plain(config)) ? text : formatJson(config)
}

async function copyActive(context: CommandContext): Promise<Generated> {
  const active = readActiveConfig(await context.observe(), context)
  if (!active.ok) return { ok: false, detail: `the config that runs here cannot be read: ${active.detail}` }
  const decoded = decodeConfig(active.text, await loadParser(active.text))
  if (!decoded.ok) return { ok: false, detail: `${active.name}: ${decoded.detail}` }
  const text = active.text.endsWith('\n') ? active.text : `${active.text}\n`
  return { ok: true, text, config: decoded.config }
}

/** What belongs to one machine, and would be every machine's. */
const ONE_NODES_OWN = ['address', 'podCIDR', 'providerID', 'reservedSystemCPUs', 'tlsCertFile', 'tlsPrivateKeyFile']

function advise(config: JsonObject): string[] {
  const own = ONE_NODES_OWN.filter((name) => typeof config[name] === 'string' && !['', '0.0.0.0', '::'].includes(String(config[name])))
  return [
    'Saved as kubelet.yaml, this makes a ConfigMap of it:',
    '  kubectl -n kube-system create configmap my-node-config --from-file=kubelet=kubelet.yaml --append-hash',
    ...(own.length === 0 ? [] : [`Before other nodes share it, look at what may be this node's alone: ${own.join(', ')}.`]),
    ...(isObject(config.staticPodURLHeader) ? ['It holds staticPodURLHeader: everybody who may read the ConfigMap may read that.'] : []),
  ]
}
