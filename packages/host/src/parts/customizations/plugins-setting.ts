import type { SessionConfigPropertySchema } from '@atrium/protocol/common/config'
import { array, decode, string } from '@atrium/protocol/schema'

/** The config key of the host's plugins: the absolute paths of their folders. */
export const pluginsKey = 'atrium.plugins'

export const pluginsProperty: SessionConfigPropertySchema = {
  type: 'array',
  title: 'Plugins',
  description: 'The folders of the plugins that every session has, as absolute paths.',
  items: { type: 'string', title: 'Folder' },
}

const Paths = array(string)

export function pluginsIn(values: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const decoded = decode(Paths, values?.[pluginsKey] ?? [])
  return decoded.ok ? decoded.value.filter(isAbsolute) : []
}

/** Returns the problem with a list of plugins that a client wants to set, if there is one. */
export function pluginsProblem(value: unknown, max: number): string | undefined {
  const decoded = decode(Paths, value)
  if (!decoded.ok) return `${pluginsKey}: ${decoded.problem}`
  if (decoded.value.length > max) return `there are at most ${max} plugins`
  const wrong = decoded.value.find((path) => !isAbsolute(path))
  return wrong === undefined
    ? undefined
    : `${pluginsKey}: ${JSON.stringify(wrong.slice(0, 200))} is not an absolute path`
}

function isAbsolute(path: string): boolean {
  return (
    path.startsWith('/') &&
    !path.includes('\0') &&
    !path.split('/').some((name) => name === '.' || name === '..')
  )
}
