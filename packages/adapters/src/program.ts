import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

/** Where a program is, by the directories of a PATH; never in the one that happens to be the current (S-40). */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const directory of absolute(path))
    for (const suffix of process.platform === 'win32' ? ['.exe'] : ['']) {
      const file = join(directory, `${name}${suffix}`)
      if (await isProgram(file)) return realpath(file)
    }
  return undefined
}

/** The directories of a PATH that mean the same wherever one is. */
export function absolute(path: string): readonly string[] {
  return path.split(delimiter).filter(isAbsolute)
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
