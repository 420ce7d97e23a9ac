/**
 * Expands the wildcards of a path. Pure; the directories are listed by the caller. systemd expands
 * those of `EnvironmentFile=` with glob(3) and no flags, and reads the files in the order of their
 * names (systemd.exec(5), "EnvironmentFile="). Rules: glob(7). `systemctl show` prints the pattern.
 */

/** @returns the names in a directory; undefined: it is none, or cannot be read */
export type ListNames = (directory: string) => readonly string[] | undefined

const SPECIAL = /[*?[\\]/

/** @returns the path itself where it has no wildcards; empty: no file matches */
export function expandPath(path: string, list: ListNames): readonly string[] {
  if (!SPECIAL.test(path)) return [path]
  const components = path.split('/').filter((component) => component !== '' && component !== '.')
  return components.reduce<readonly string[]>(
    (parents, component) => parents.flatMap((parent) => findIn(parent, component, list)),
    [path.startsWith('/') ? '' : '.'],
  )
}

function findIn(parent: string, component: string, list: ListNames): readonly string[] {
  if (component === '..') return [`${parent}/..`]
  const pattern = compile(component)
  const names = list(parent === '' ? '/' : parent) ?? []
  // A period at the start of a name is matched by a period alone.
  const shown = component.startsWith('.') || component.startsWith('\\.') ? names : names.filter((name) => !name.startsWith('.'))
  return shown
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => `${parent}/${name}`)
}

/** Bracket expressions, in which `]` may be the first character, and single characters. */
const TOKENS = /\[(?<not>[!^]?)(?<set>\]?(?:\[:[a-z]+:\]|[^\]])*)\]|\\(?<quoted>.)|(?<other>.)/gsu

function compile(component: string): RegExp {
  const parts = [...component.matchAll(TOKENS)].map(({ groups = {} }) => {
    const { not, set, quoted, other } = groups
    if (set !== undefined) return compileSet(set, not !== '')
    if (other === '*') return '.*'
    return other === '?' ? '.' : quote(quoted ?? other ?? '')
  })
  return new RegExp(`^(?:${parts.join('')})$`, 'su')
}

const CLASSES: Readonly<Record<string, string>> = {
  alnum: '\\p{L}\\p{Nd}',
  alpha: '\\p{L}',
  blank: ' \\t',
  digit: '0-9',
  lower: '\\p{Ll}',
  space: '\\s',
  upper: '\\p{Lu}',
  xdigit: '0-9A-Fa-f',
}
const IN_SET = /\[:(?<name>[a-z]+):\]|\\?(?<from>.)-\\?(?<to>.)|\\?(?<single>.)/gsu
const NOTHING = '(?!)'

function compileSet(set: string, isNegated: boolean): string {
  const members = [...set.matchAll(IN_SET)].flatMap(({ groups = {} }) => {
    const { name, from, to, single } = groups
    if (name !== undefined) return CLASSES[name] ?? []
    if (from === undefined || to === undefined) return quoteMember(single ?? '')
    // A range that ends before it begins has no members.
    return (from.codePointAt(0) ?? 0) <= (to.codePointAt(0) ?? 0) ? `${quoteMember(from)}-${quoteMember(to)}` : []
  })
  if (members.length === 0) return isNegated ? '.' : NOTHING
  return `[${isNegated ? '^' : ''}${members.join('')}]`
}

function quote(character: string): string {
  return /^[\^$\\.*+?()[\]{}|/]$/.test(character) ? `\\${character}` : character
}

/** Between brackets a hyphen is special too. */
function quoteMember(character: string): string {
  return character === '-' ? '\\-' : quote(character)
}
