import { pathOf } from '@atrium/protocol/file-uri'
import type { ConfigPropertySchema } from '@atrium/protocol/common/config'
import { array, boolean, decode, id, object, optional } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'

const grant = { uri: id, write: optional(boolean) }
/** Permission to read, and perhaps to write, a directory or file outside the sessions' directories. Clients grant it. */
export interface Grant extends Infer<typeof grant> {}
export const Grants = array(object<Grant>('Grant', grant))

/** The schema of `atrium.grants` in the root config. */
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

/** Returns the problem with a list of grants that a client wants to set, if there is one. */
export function grantsProblem(value: unknown, max: number): string | undefined {
  const decoded = decode(Grants, value)
  if (!decoded.ok) return `atrium.grants: ${decoded.problem}`
  if (decoded.value.length > max) return `there are at most ${max} grants`
  for (const { uri } of decoded.value) {
    const named = pathOf(uri)
    if (!named.ok) return `atrium.grants: ${JSON.stringify(uri.slice(0, 200))}: ${named.problem}`
  }
  return undefined
}
