/**
 * Parses YAML in the helper, so that the agent does not keep the parser in its memory. A text that
 * may be costly goes to a process of its own, as everywhere. Where the helper fails, the text is
 * parsed as everywhere too: no config is refused for that. Pure.
 */
import type { LocatedReading, YamlReader } from '../kubelet/yaml-document.ts'
import { locateIn } from '../kubelet/yaml-places.ts'
import type { Helper } from './helper-process.ts'
import { isYamlReply, type YamlReply } from './protocol.ts'

/** One such text takes at most half a second of CPU. */
const LIMIT_MS = 20_000

export function parseByHelper(helper: Helper, bounded: YamlReader, isCheap: (text: string) => boolean): YamlReader {
  const ask = (mode: 'first' | 'all', text: string, signal: AbortSignal | undefined): Promise<YamlReply | undefined> =>
    isCheap(text)
      ? helper.ask('yaml', [mode, text], { check: isYamlReply, limitMs: LIMIT_MS, signal }).catch(() => undefined)
      : Promise.resolve(undefined)
  return {
    async first(text, signal): Promise<LocatedReading> {
      const answer = await ask('first', text, signal)
      if (answer?.kind === 'first') {
        const { value, remarks, repeated, places } = answer
        return { ok: true, value, remarks, repeated, locate: locateIn(places) }
      }
      return answer?.kind === 'failed' ? { ok: false, detail: answer.detail, position: answer.position } : bounded.first(text, signal)
    },
    async all(text, signal) {
      const answer = await ask('all', text, signal)
      if (answer?.kind === 'all') return { ok: true, documents: answer.documents }
      return answer?.kind === 'failed' ? { ok: false, detail: answer.detail, position: answer.position } : bounded.all(text, signal)
    },
  }
}
