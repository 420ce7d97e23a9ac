/** Reads the file that `apply` is given: a config, a part, or the manifest of a ConfigMap. */
import { isUtf8 } from 'node:buffer'
import { LONGEST_BYTES } from '../agent/candidate.ts'
import { type Place, readManifestText } from '../manifest-text.ts'
import { isObject } from '../../values/is-object.ts'
import type { PluginContext } from './command.ts'
import type { ConfigContent } from './config-maps.ts'
import { Failure } from './failure.ts'
import { KEY } from './merged-text.ts'

export interface ReadPart extends ConfigContent {
  /** As the person sees it, for messages with places. */
  readonly shown: { readonly name: string; readonly text: string; readonly place: Place }
}

/**
 * @param of the ConfigMap that it is for
 * @param base of `--base`; empty: not given
 * @param before of the ConfigMap that exists. undefined: it does not
 * @throws Failure
 */
export async function readPart(
  context: PluginContext,
  path: string,
  { of, base, before }: { readonly of: string; readonly base: string; readonly before: ConfigContent | undefined },
): Promise<ReadPart> {
  const name = path === '-' ? '<stdin>' : path
  const reading = await context.readInput(path === '-' ? undefined : path, LONGEST_BYTES)
  if (reading.kind === 'unreadable') throw new Failure(`${name} cannot be read: ${reading.code}`)
  if (reading.kind === 'too-large') throw new Failure(`${name} has more than ${LONGEST_BYTES} bytes, the limit of a ConfigMap`)
  if (!isUtf8(reading.bytes)) throw new Failure(`${name} is not valid UTF-8`)
  const text = reading.bytes.toString('utf8')
  const manifest = await readManifestText(text, context.yaml)
  if (manifest.kind === 'unclear') throw new Failure(`${name}: ${manifest.detail}`)
  if (manifest.kind === 'found') {
    const { data, key, place } = manifest
    if (key !== KEY) throw new Failure(`${name}: its ConfigMap has no key ${KEY}`)
    return { data, base: base || manifest.base?.text, shown: { name, text, place } }
  }
  return {
    // The other keys may be files that the config names.
    data: { ...before?.data, [KEY]: text },
    base: base || (await guessBase(context, { name, text, before, of })),
    shown: { name, text, place: (position) => position },
  }
}

/** A file without a manifest has no annotation: a config names its kind, and a part need not. */
async function guessBase(
  { yaml, namespace }: PluginContext,
  {
    name,
    text,
    before,
    of,
  }: { readonly name: string; readonly text: string; readonly before: ConfigContent | undefined; readonly of: string },
): Promise<string | undefined> {
  if (before?.base !== undefined) return before.base
  const parsed = await yaml.first(text)
  const isWhole = !parsed.ok || !isObject(parsed.value) || parsed.value.kind !== undefined
  if (isWhole) return undefined
  // A forgotten kind must not put each node's local config under the rest.
  if (before !== undefined)
    throw new Failure(
      `${name} has no kind, so it is a part, and ${namespace}/${of} holds a whole config: give --base to make it a part, or add apiVersion and kind`,
    )
  return 'local'
}
