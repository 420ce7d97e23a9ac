/**
 * Reads the command line of the plugin: global flags anywhere, then the command's own, as kubectl
 * takes them. Reports all problems together. Pure.
 */
import { parseArgs } from 'node:util'
import { type CommandOption, parseGiven } from '../command.ts'
import { nearest } from '../../values/nearest.ts'
import type { PluginCommand, PluginLine } from './command.ts'
import { GLOBAL_OPTIONS } from './global-options.ts'

export type LineReading =
  | { readonly kind: 'run'; readonly command: PluginCommand; readonly line: PluginLine; readonly globals: Readonly<Record<string, string>> }
  | { readonly kind: 'help'; readonly command: PluginCommand | undefined }
  | { readonly kind: 'version' }
  /** `command` undefined: none is named. */
  | { readonly kind: 'wrong'; readonly command: PluginCommand | undefined; readonly problems: readonly string[] }

interface Given {
  readonly raw: string
  readonly name: string
  /** undefined: it was given without one. */
  readonly value: string | undefined
}

export function readLine(args: readonly string[], commands: readonly PluginCommand[]): LineReading {
  const { given, words } = split(args, [...GLOBAL_OPTIONS, ...commands.flatMap(({ options }) => options)])
  const isAsked = (name: string) => given.some((each) => each.name === name)
  if (isAsked('version')) return { kind: 'version' }
  const helps = words[0] === 'help'
  const named = helps ? words.slice(1) : words
  const command = findCommand(named, commands)
  if (helps || isAsked('help') || words.length === 0) {
    const isGroup = commands.some(({ name }) => name.split(' ')[0] === named[0])
    if (named.length === 0 || command !== undefined || isGroup) return { kind: 'help', command }
  }
  if (command === undefined) return { kind: 'wrong', command, problems: [describeUnknown(named, commands)] }
  const operands = words.slice(command.name.split(' ').length)
  const { values: globals, problems: wrongGlobals } = readOptions(GLOBAL_OPTIONS, given)
  const { values: options, problems: wrongOptions } = readOptions(command.options, given)
  const known = [...GLOBAL_OPTIONS, ...command.options]
  const strays = given.filter((each) => !known.some(({ name }) => name === each.name) && each.name !== 'help')
  const names = known.map(({ name }) => `--${name}`)
  const problems = [
    ...strays.map(({ raw }) => `${raw}: no such flag of ${command.name}; the nearest known one is ${nearest(raw, names)}`),
    ...findWrongOperands(command, operands),
    ...wrongGlobals,
    ...wrongOptions,
  ]
  return problems.length > 0 ? { kind: 'wrong', command, problems } : { kind: 'run', command, line: { options, args: operands }, globals }
}

function split(args: readonly string[], known: readonly CommandOption[]): { given: Given[]; words: string[] } {
  const described = known.map(({ name, short, kind }) => {
    const type: 'boolean' | 'string' = kind.placeholder === undefined ? 'boolean' : 'string'
    return [name, short === undefined ? { type } : { type, short }] as const
  })
  const options = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' }, ...Object.fromEntries(described) } as const
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  const given: Given[] = []
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    // kubectl takes `-o=json` too.
    if (token.kind === 'option')
      given.push({
        raw: token.rawName,
        name: token.name,
        value: token.rawName.startsWith('--') ? token.value : token.value?.replace(/^=/, ''),
      })
  }
  return { given, words }
}

/** The longest name that the words begin with. */
function findCommand(words: readonly string[], commands: readonly PluginCommand[]): PluginCommand | undefined {
  return commands.find(({ name }) => name === words.slice(0, 2).join(' ')) ?? commands.find(({ name }) => name === words[0])
}

function describeUnknown(words: readonly string[], commands: readonly PluginCommand[]): string {
  const names = commands.map(({ name }) => name)
  const group = names.filter((name) => name.startsWith(`${words[0]} `))
  if (group.length > 0) return `${words.join(' ')}: write one of ${group.join(', ')}`
  return `${words[0]}: unknown command; the nearest known one is ${nearest(words[0] ?? '', names)}`
}

function readOptions(options: readonly CommandOption[], given: readonly Given[]): { values: Record<string, string>; problems: string[] } {
  const values: Record<string, string> = {}
  const problems: string[] = []
  for (const option of options) {
    const { name, kind, initial } = option
    const last = given.findLast((each) => each.name === name)
    const isSwitch = kind.placeholder === undefined
    if (last !== undefined && last.value === undefined && !isSwitch) problems.push(`${last.raw}: needs a value`)
    const text = last === undefined ? initial : (last.value ?? 'true')
    const parsed = last?.value === undefined ? undefined : parseGiven(option, text)
    if (last !== undefined && parsed?.ok === false) problems.push(`${last.raw}: ${parsed.detail}`)
    values[name] = text
  }
  return { values, problems }
}

function findWrongOperands({ arguments: taken }: PluginCommand, operands: readonly string[]): string[] {
  const missing = taken.filter(({ required }, index) => required && operands[index] === undefined)
  const isOpen = taken.some(({ many }) => many === true)
  const extra = isOpen ? [] : operands.slice(taken.length)
  return [...missing.map(({ placeholder }) => `${placeholder}: is missing`), ...extra.map((word) => `${word}: unexpected argument`)]
}
