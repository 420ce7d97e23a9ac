/**
 * Reads the files from which kubelet makes static pods, as kubelet finds them: a file, or the files
 * of a directory whose names do not begin with a dot, links included (`listConfig` and
 * `extractFromDir`, pkg/kubelet/config/file.go). Bounded in number and size. Never rejects: a file
 * that cannot be read is left out, as is one that does not exist.
 */
import { createHash } from 'node:crypto'
import { open, readdir, stat } from 'node:fs/promises'
import { posix } from 'node:path'
import type { Manifest } from '../decision/evidence-facts.ts'

/** A control-plane node has four. */
const MOST_FILES = 100
/** `maxConfigLength`, pkg/kubelet/config/file.go: kubelet takes no longer one. */
const LONGEST_FILE = 10 << 20
const MOST_NAMES = 1000

/** @param paths directories and files */
export async function readStaticManifests(paths: readonly string[]): Promise<readonly Manifest[]> {
  const files = [...new Set((await Promise.all(paths.map(listFiles))).flat())].sort().slice(0, MOST_FILES)
  const manifests: Manifest[] = []
  // One after another: their sizes must not add up.
  for (const path of files) {
    const text = await readText(path)
    if (text !== undefined) manifests.push({ path, digest: createHash('sha256').update(text).digest('hex'), names: findNames(text) })
  }
  return manifests
}

async function listFiles(path: string): Promise<string[]> {
  const cleaned = posix.normalize(path).replace(/(.)\/$/, '$1')
  try {
    if (!(await stat(cleaned)).isDirectory()) return [cleaned]
    const names = await readdir(cleaned)
    return names.filter((name) => !name.startsWith('.')).map((name) => posix.join(cleaned, name))
  } catch {
    return []
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    // A pipe would never end, and opening it would wait.
    const { size, isRegular } = await stat(path).then((facts) => ({ size: facts.size, isRegular: facts.isFile() }))
    if (!isRegular || size > LONGEST_FILE) return undefined
    const file = await open(path)
    try {
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}

/** The values of `name` in YAML or JSON, without a parser: one of them is the pod's. */
function findNames(text: string): readonly string[] {
  const names = new Set<string>()
  for (const [, name = ''] of text.matchAll(/(?:^|[\s{,"'-])name["']?\s*:\s*["']?([a-z0-9][a-z0-9.-]*)/g)) {
    names.add(name)
    if (names.size >= MOST_NAMES) break
  }
  return [...names]
}
