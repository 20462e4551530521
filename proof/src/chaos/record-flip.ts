import { CheckedRecords } from '@atrium/host/records'
import { kindOfRecord } from '@atrium/host/records/kinds'
import type { RecordKind } from '@atrium/host/records/kinds'
import type { Chance } from '../chance.ts'

/** The records of a store by key. */
export type Stored = ReadonlyMap<string, string>

/** A permission in the state of a session, which is no record, and is flipped with them. */
export const permission = { id: 'chaos-permission', tool: 'write' }
export const permissionKind = 'permission (session)'

/** A place in the file of a store at which a bit is flipped. */
export interface Flip {
  readonly kind: string
  readonly key: string
  /** The position of the byte in the file. */
  readonly at: number
  readonly isKey: boolean
}

/** Chooses a byte of a record in the file: of its key or its text, so often as each other. Undefined if it is not found there. */
export function flipIn(
  bytes: Buffer,
  { kind, key, before, chance }: Pick<Flip, 'kind' | 'key'> & { before: Stored; chance: Chance },
): Flip | undefined {
  const isRecord = kind !== permissionKind
  const found = isRecord ? bytes.indexOf(`${key}${before.get(key)?.slice(0, 10) ?? ''}`) : bytes.indexOf(key)
  if (found < 0) return undefined
  const keyLength = Buffer.byteLength(key)
  const isKey = isRecord && chance.between(0, 1) === 0
  const length = Buffer.byteLength(before.get(key) ?? '')
  // Of a long record only the beginning is here, and the number of another page follows, which is no part of the record.
  const textLength = keyLength + length < 900 ? length : Math.max(1, 100 - keyLength)
  const offset =
    isKey || !isRecord ? chance.between(0, keyLength - 1) : keyLength + chance.between(0, textLength - 1)
  return { kind, key, at: found + offset, isKey }
}

/**
 * Whether a record permits more than before, as the host reads it: only the same text, and what takes its place, permit no more. The
 * host may have had no reason to read it since its start.
 */
export async function grantsMore(key: string, before: Stored, after: Stored): Promise<boolean> {
  const kind = key.slice(0, key.indexOf('/') + 1)
  if (!permitting.has(kind)) return false
  const [was, now] = [await readFrom(before, key), await readFrom(after, key)]
  const of: RecordKind | undefined = kindOfRecord(key)
  if (now === undefined) return of?.instead !== undefined
  const instead = of?.instead?.(key.slice(kind.length))
  return powerIn(kind, now) !== powerIn(kind, was ?? '') && now !== instead
}

/** The part of a text that permits something. The host also notes when a client and a device were here. */
function powerIn(kind: string, text: string): string {
  const part = kind === 'client/' ? /"principal":"[^"]*"/ : kind === 'device/' ? /"role":"[^"]*"/ : /[^]*/
  return part.exec(text)?.[0] ?? text
}

/** Reads a record as the host does. */
async function readFrom(stored: Stored, key: string): Promise<string | undefined> {
  const texts = new Map(stored)
  const records = {
    get: async (each: string) => texts.get(each),
    put: (each: string, text: string) => void texts.set(each, text),
    list: async (prefix: string) => [...texts].filter(([each]) => each.startsWith(prefix)),
    delete: (each: string) => void texts.delete(each),
  }
  return new CheckedRecords(records, '', () => {}).get(key)
}

const permitting = new Set(['client/', 'consent/', 'device/', 'enablement/', 'machine/', 'owner/'])

/** The keys of the records of each kind. */
export function keysByKind(stored: Stored): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, string[]>()
  for (const key of stored.keys()) {
    const kind = key.slice(0, key.indexOf('/') + 1) || key
    if (kind !== 'damaged/') keys.set(kind, [...(keys.get(kind) ?? []), key])
  }
  return keys
}
