import type { ConfigPropertySchema } from '@atrium/protocol/common/config'
import { rootUri } from '@atrium/protocol/uri'
import { setRoot } from '../session/permissions.ts'
import { CommandError, exits } from '../terminal/exit.ts'
import type { HostOptions } from '../link/connect.ts'
import { printList } from '../render/table.ts'
import { withClient } from '../link/with-client.ts'
import { sanitize, onOneLine, output } from '../terminal/output.ts'
import type { OutputOptions, Style } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly unset?: boolean
}

interface Setting {
  readonly key: string
  readonly value: unknown
  readonly property: ConfigPropertySchema
}

/** `atrium config`: lists the settings of the host, shows one, or changes one. */
export function config(key: string | undefined, value: string | undefined, flags: Flags): Promise<void> {
  const out = output(flags)
  if (value !== undefined && flags.unset)
    throw new CommandError('A value and --unset exclude each other; leave one out.', exits.usage)
  return withClient(flags, async (client) => {
    const root = client.subscribe('root', rootUri)
    const { config: state } = await root.ready()
    // Values without a schema belong to clients, and are not listed.
    const all = Object.entries(state?.schema.properties ?? {}).map(([name, property]): Setting => ({
      key: name,
      value: state?.values[name] ?? property.default,
      property,
    }))
    if (key === undefined) return printList(out, all, { document, row: (each) => row(each, out.style) })
    const one = all.find((each) => each.key === key || each.key === `atrium.${key}`)
    if (!one)
      throw new CommandError(
        `There is no setting '${key}'; there is: ${all.map((each) => sanitize(each.key)).join(', ')}.`,
        exits.usage,
      )
    if (value === undefined && !flags.unset) return out.print(document(one), () => plain(one.value))
    const newValue = flags.unset ? emptyValue(one) : parseValue(one, value ?? '')
    await setRoot(root, { [one.key]: newValue })
    out.report(document({ ...one, value: newValue }), () =>
      flags.unset ? `${one.key} is reset.` : `${one.key} is set.`,
    )
  })
}

/** Parses a text by the schema of the setting. */
function parseValue({ key, property }: Setting, text: string): unknown {
  const value = property.type === 'string' ? text : parseJson(text)
  const fits =
    property.type === 'array'
      ? Array.isArray(value)
      : property.type === 'object'
        ? typeof value === 'object' && value !== null && !Array.isArray(value)
        : typeof value === property.type
  if (!fits) throw new CommandError(`${key} must be ${typeName(property.type)}.`, exits.usage)
  if (property.enum && !property.enum.some((each) => each === value))
    throw new CommandError(
      `${key} must be one of ${property.enum.map((each) => sanitize(String(each))).join(', ')}.`,
      exits.usage,
    )
  if (property.readOnly) throw new CommandError(`${key} can only be read.`, exits.denied)
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function typeName(type: string): string {
  const words: ReadonlyMap<string, string> = new Map([
    ['boolean', 'true or false'],
    ['number', 'a number'],
    ['array', 'a JSON array'],
    ['object', 'a JSON object'],
  ])
  return words.get(type) ?? `of the type ${sanitize(type)}`
}

/** The value that resets a setting: an empty list, or null. */
function emptyValue({ property }: Setting): unknown {
  return property.type === 'array' ? [] : null
}

function document({ key, value, property: { type, title } }: Setting): object {
  return { key, value: value ?? null, type, title }
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return ''
  return sanitize(typeof value === 'string' ? value : JSON.stringify(value))
}

function row({ key, value, property }: Setting, { cyan, dim }: Style): readonly string[] {
  return [cyan(sanitize(key)), onOneLine(plain(value)) || dim('(not set)'), dim(onOneLine(property.title))]
}
