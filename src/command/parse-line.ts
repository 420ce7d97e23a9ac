// SPDX-License-Identifier: Apache-2.0
/**
 * Reads a command line: flags stand anywhere, as in kubectl. Reports all problems together. Pure.
 */
import { parseArgs } from 'node:util'
import { nearby } from '../values/nearest.ts'
import { type Command, type CommandLine, type CommandOption, type Program, parseGiven } from './command.ts'

export type LineReading<C> =
  | { readonly kind: 'run'; readonly command: C; readonly line: CommandLine; readonly problems: readonly string[] }
  /** `isAsked` false: no command is named. */
  | { readonly kind: 'help'; readonly command: C | undefined; readonly isAsked: boolean }
  | { readonly kind: 'version' }
  /** No command is named, or one that does not exist. */
  | { readonly kind: 'wrong'; readonly problems: readonly string[] }

interface GivenFlag {
  readonly raw: string
  readonly name: string
  /** undefined: it was given without one. */
  readonly value: string | undefined
  /** The index of the argument that holds it. */
  readonly index: number
}

export function readLine<C extends Command<never>>(args: readonly string[], program: Program<C>): LineReading<C> {
  const { commands } = program
  const { given, words } = split(args, program)
  const isAsked = (name: string) => given.some((each) => each.name === name)
  if (isAsked('version')) return { kind: 'version' }
  const helps = words[0] === 'help'
  const named = helps ? words.slice(1) : words
  const command = findCommand(named, commands)
  if (helps || isAsked('help') || args.length === 0) {
    const isGroup = commands.some(({ name }) => name.split(' ')[0] === named[0])
    if (named.length === 0 || command !== undefined || isGroup) return { kind: 'help', command, isAsked: args.length > 0 }
  }
  // Until a command is named, any of them may take the flag.
  const known = command === undefined ? listOptions(program) : optionsOf(program, command)
  const strays = given.filter(({ name }) => name !== 'help' && !known.some((option) => option.name === name))
  const problems = strays.map((flag) => describeUnknownFlag(flag, program, command))
  if (command === undefined) return { kind: 'wrong', problems: problems.length > 0 ? problems : [describeUnknownCommand(named, commands)] }
  const operands = words.slice(command.name.split(' ').length)
  const own = readOptions(command.options, given)
  const shared = readOptions(program.flagsOf(command), given)
  const initial = Object.fromEntries(command.options.map((option) => [option.name, option.initial]))
  return {
    kind: 'run',
    command,
    line: { options: { ...initial, ...own.values }, args: operands, shared: shared.values },
    problems: [...problems, ...findWrongOperands(command, operands, strays.length > 0), ...shared.problems, ...own.problems],
  }
}

function listOptions<C extends Command<never>>(program: Program<C>): readonly CommandOption[] {
  return [undefined, ...program.commands].flatMap((command) => optionsOf(program, command))
}

/** With the flags of the program itself. */
export function optionsOf<C extends Command<never>>(program: Program<C>, command: C | undefined): readonly CommandOption[] {
  return [...(command?.options ?? []), ...program.flagsOf(command)]
}

export function split<C extends Command<never>>(args: readonly string[], program: Program<C>): { given: GivenFlag[]; words: string[] } {
  const described = listOptions(program).map(({ name, short, kind }) => {
    const type: 'boolean' | 'string' = kind.placeholder === undefined ? 'boolean' : 'string'
    return [name, short === undefined ? { type } : { type, short }] as const
  })
  const options = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' }, ...Object.fromEntries(described) } as const
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  // `-sh` may be two letters. Where one of them is unknown, all of it is one flag that is unknown.
  const mistyped = new Set(
    tokens.flatMap((token) =>
      token.kind === 'option' && !token.rawName.startsWith('--') && !Object.hasOwn(options, token.name) ? [token.index] : [],
    ),
  )
  const given: GivenFlag[] = []
  const words: string[] = []
  let unknownAt = -2
  for (const token of tokens) {
    if (token.kind === 'option' && mistyped.has(token.index)) {
      if (given.at(-1)?.index === token.index) continue
      const [raw = '', ...value] = (args[token.index] ?? '').split('=')
      // `-w=false` has a letter that is known, and no second one.
      const isKnown = raw.length === 2 && Object.hasOwn(options, token.name)
      const name = isKnown ? token.name : raw
      given.push({ raw, name, value: value.length === 0 ? undefined : value.join('='), index: token.index })
      if (value.length === 0) unknownAt = token.index
      continue
    }
    // After an unknown flag, a word is most likely its value, not a second problem.
    if (token.kind === 'positional' && token.index !== unknownAt + 1) words.push(token.value)
    if (token.kind !== 'option') continue
    // kubectl takes `-o=json` too.
    const value = token.rawName.startsWith('--') ? token.value : token.value?.replace(/^=/, '')
    given.push({ raw: token.rawName, name: token.name, value, index: token.index })
    if (!Object.hasOwn(options, token.name) && value === undefined) unknownAt = token.index
  }
  return { given, words }
}

/** The longest name that the words begin with. */
export function findCommand<C extends Command<never>>(words: readonly string[], commands: readonly C[]): C | undefined {
  return commands.find(({ name }) => name === words.slice(0, 2).join(' ')) ?? commands.find(({ name }) => name === words[0])
}

function describeUnknownFlag<C extends Command<never>>(
  { raw, name: flag }: GivenFlag,
  program: Program<C>,
  command: C | undefined,
): string {
  const others = program.commands.filter((other) => optionsOf(program, other).some(({ name }) => name === flag))
  const [other] = others
  if (command !== undefined && other !== undefined)
    return others.length === 1
      ? `${raw}: only the command ${other.name} takes this flag`
      : `${raw}: only the commands ${others.map(({ name }) => name).join(', ')} take this flag`
  const meant = program.hints?.get(raw)
  if (meant !== undefined) return `${raw}: unknown flag; ${meant}`
  const options = optionsOf(program, command)
  const formats = options.find(({ name }) => name === 'output')?.kind.choices ?? []
  const known = [...options.map(({ name }) => name), 'help', ...(command === undefined ? ['version'] : [])]
  const found = nearby(
    raw,
    [...known, ...formats].map((name) => `--${name}`),
  )
  if (found === undefined) return `${raw}: unknown flag`
  const format = known.includes(found.slice(2)) ? undefined : found.slice(2)
  return format === undefined ? `${raw}: unknown flag; the nearest known one is ${found}` : `${raw}: unknown flag; write -o ${format}`
}

function describeUnknownCommand<C extends Command<never>>(words: readonly string[], commands: readonly C[]): string {
  if (words.length === 0) return 'a command is missing'
  const names = commands.map(({ name }) => name)
  const group = names.filter((name) => name.startsWith(`${words[0]} `))
  if (group.length > 0) return `${words.join(' ')}: write one of ${group.join(', ')}`
  const found = nearby(words[0] ?? '', names)
  return `${words[0]}: unknown command${found === undefined ? '' : `; the nearest known one is ${found}`}`
}

/** The values of those that are given. */
function readOptions(
  options: readonly CommandOption[],
  given: readonly GivenFlag[],
): { values: Record<string, string>; problems: string[] } {
  const values: Record<string, string> = {}
  const problems: string[] = []
  for (const option of options) {
    const last = given.findLast(({ name }) => name === option.name)
    if (last === undefined) continue
    const isSwitch = option.kind.placeholder === undefined
    if (last.value === undefined && !isSwitch) {
      problems.push(`${last.raw}: needs a value`)
      continue
    }
    const text = last.value ?? 'true'
    const parsed = parseGiven(option, text)
    if (!parsed.ok) problems.push(`${last.raw}: ${parsed.detail}`)
    values[option.name] = text
  }
  return { values, problems }
}

/** @param isUnsure an argument may have been taken as the value of an unknown flag */
function findWrongOperands({ arguments: taken = [] }: Command<never>, operands: readonly string[], isUnsure: boolean): string[] {
  const missing = isUnsure ? [] : taken.filter(({ required }, index) => required && operands[index] === undefined)
  const isOpen = taken.some(({ many }) => many === true)
  const extra = isOpen ? [] : operands.slice(taken.length)
  return [
    ...missing.map(({ placeholder }) => `${placeholder}: is missing`),
    ...extra.map((word) => `${word}: unexpected argument`),
    ...operands.flatMap((text, index) => {
      const parsed = taken[index]?.kind?.parse(text)
      return parsed?.ok === false ? [parsed.detail] : []
    }),
  ]
}
