import type { ConfigPropertySchema } from '@atrium/protocol/common/config'
import { rootUri } from '@atrium/protocol/uri'
import { setRoot } from '../session/permissions.ts'
import { Problem, exits } from '../terminal/exit.ts'
import type { Whereabouts } from '../link/connect.ts'
import { table } from '../render/table.ts'
import { trip } from '../link/with-client.ts'
import { harmless, onOneLine, voice } from '../terminal/output.ts'
import type { Manners, Style } from '../terminal/output.ts'

interface Flags extends Whereabouts, Manners {
  readonly unset?: boolean
}

interface Setting {
  readonly key: string
  readonly value: unknown
  readonly property: ConfigPropertySchema
}

/** `atrium config`: what the host itself can be set to. All of it, one of it, or one of it changed. */
export function config(key: string | undefined, value: string | undefined, flags: Flags): Promise<void> {
  const { tell, did, json, style } = voice(flags)
  if (value !== undefined && flags.unset)
    throw new Problem('A value and --unset exclude each other; leave one out.', exits.usage)
  return trip(flags, async (client) => {
    const root = client.subscribe('root', rootUri)
    const { config: state } = await root.ready()
    // Keys of clients are there too; they are theirs, and nobody here knows what they mean.
    const all = Object.entries(state?.schema.properties ?? {}).map(([name, property]): Setting => ({
      key: name,
      value: state?.values[name] ?? property.default,
      property,
    }))
    if (key === undefined) {
      if (json) for (const each of all) tell(document(each), () => '')
      else tell({}, () => table(all.map((each) => row(each, style))))
      return
    }
    const one = all.find((each) => each.key === key || each.key === `atrium.${key}`)
    if (!one)
      throw new Problem(
        `There is no setting '${key}'; there is: ${all.map((each) => harmless(each.key)).join(', ')}.`,
        exits.usage,
      )
    if (value === undefined && !flags.unset) return tell(document(one), () => plain(one.value))
    const wanted = flags.unset ? nothingFor(one) : typed(one, value ?? '')
    await setRoot(root, { [one.key]: wanted })
    did(document({ ...one, value: wanted }), () =>
      flags.unset ? `${one.key} is not set.` : `${one.key} is set.`,
    )
  })
}

/** A text as the value it means, by what the schema says of it. */
function typed({ key, property }: Setting, text: string): unknown {
  const value = property.type === 'string' ? text : parsed(text)
  const fits =
    property.type === 'array'
      ? Array.isArray(value)
      : property.type === 'object'
        ? typeof value === 'object' && value !== null && !Array.isArray(value)
        : typeof value === property.type
  if (!fits) throw new Problem(`${key} must be ${wanted(property.type)}.`, exits.usage)
  if (property.enum && !property.enum.some((each) => each === value))
    throw new Problem(
      `${key} must be one of ${property.enum.map((each) => harmless(String(each))).join(', ')}.`,
      exits.usage,
    )
  if (property.readOnly) throw new Problem(`${key} can only be read.`, exits.denied)
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function wanted(type: string): string {
  const words: ReadonlyMap<string, string> = new Map([
    ['boolean', 'true or false'],
    ['number', 'a number'],
    ['array', 'a JSON array'],
    ['object', 'a JSON object'],
  ])
  return words.get(type) ?? `of the type ${harmless(type)}`
}

/** A list that nobody set is empty; of anything else there is nothing. */
function nothingFor({ property }: Setting): unknown {
  return property.type === 'array' ? [] : null
}

function document({ key, value, property: { type, title } }: Setting): object {
  return { key, value: value ?? null, type, title }
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return ''
  return harmless(typeof value === 'string' ? value : JSON.stringify(value))
}

function row({ key, value, property }: Setting, { cyan, dim }: Style): readonly string[] {
  return [cyan(harmless(key)), onOneLine(plain(value)) || dim('(not set)'), dim(onOneLine(property.title))]
}
