import { hasHidden, printable, Unusable } from './plugin-text.ts'

/**
 * Converts a path that a plugin declares to a path relative to the plugin's root, without `.` and `..`; '' is the
 * root. Throws `Unusable` if the text of the path leads out of the root. Symbolic links are checked when the file is
 * opened.
 */
export function pluginPath(declared: string): string {
  if (hasHidden(declared)) throw new Unusable(`The path ${printable(declared)} has a hidden character.`)
  if (
    declared.includes('\\') ||
    declared.startsWith('/') ||
    /^[A-Za-z]:/.test(declared) ||
    declared.startsWith('~')
  )
    throw new Unusable(
      `The path ${printable(declared)} is not relative to the plugin, with / between its names.`,
    )
  const names: string[] = []
  for (const name of declared.split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.pop() === undefined)
      throw new Unusable(`The path ${printable(declared)} leads out of the plugin.`)
  }
  return names.join('/')
}

/** The last name of a path or URI: the part behind its last slash. */
export function lastName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The name of a folder for people, made from the folder's URI. */
export function folderName(uri: string): string {
  const [path = ''] = uri.split(/[?#]/)
  const name = lastName(path.replace(/\/+$/, ''))
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
