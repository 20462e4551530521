import { pathOf } from '@atrium/protocol/file-uri'
import type { ConfigPropertySchema } from '@atrium/protocol/common/config'
import { array, boolean, decode, id, object, optional } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'

const grant = { uri: id, write: optional(boolean) }
/** Leave to read a directory or a file, and perhaps to write, beyond what sessions work in. Given by people, seen by all. */
export interface Grant extends Infer<typeof grant> {}
export const Grants = array(object<Grant>('Grant', grant))

/** How the root's config shows it. */
export const grantsProperty: ConfigPropertySchema = {
  type: 'array',
  title: 'Granted folders',
  description: 'Folders and files outside the sessions’ own folders that clients and agents may use.',
  items: {
    type: 'object',
    title: 'Grant',
    properties: {
      uri: { type: 'string', title: 'Folder', description: 'A file: URI.' },
      write: { type: 'boolean', title: 'Writing, too', default: false },
    },
    required: ['uri'],
  },
}

/** What is wrong with grants that somebody wants to set, in words. */
export function grantsProblem(value: unknown, most: number): string | undefined {
  const decoded = decode(Grants, value)
  if (!decoded.ok) return `atrium.grants: ${decoded.problem}`
  if (decoded.value.length > most) return `there are at most ${most} grants`
  for (const { uri } of decoded.value) {
    const named = pathOf(uri)
    if (!named.ok) return `atrium.grants: ${JSON.stringify(uri.slice(0, 200))}: ${named.problem}`
  }
  return undefined
}
