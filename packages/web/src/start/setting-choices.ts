import type { ConfigPropertySchema, ConfigSchema } from '@atrium/protocol/common/config'
import { isEditable } from './config-field.tsx'

/** Number of settings with a place in the row below the message. */
const mostQuick = 3

interface Split {
  /** Settings with a few named values, such as the mode of an agent and the isolation. */
  readonly quick: readonly (readonly [string, ConfigPropertySchema])[]
  /** All others. */
  readonly more: ConfigSchema | undefined
}

/** Splits the settings that a schema describes into those that are always shown, and those behind a click. */
export function splitSettings(schema: ConfigSchema | undefined): Split {
  if (!schema) return { quick: [], more: undefined }
  const all = Object.entries(schema.properties)
  // Settings of the host that belong to another one, such as the branch of a worktree, have its name before a dot.
  const quick = all
    .filter(([name, each]) => isEditable(each) && (each.enum?.length ?? 0) > 1 && !name.startsWith('atrium.'))
    .slice(-mostQuick)
  const names = new Set(quick.map(([name]) => name))
  return {
    quick,
    more: { ...schema, properties: Object.fromEntries(all.filter(([name]) => !names.has(name))) },
  }
}
