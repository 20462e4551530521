import { constants, statSync } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

/**
 * Finds a program in the directories of a PATH. Returns its path with symbolic links resolved; undefined if there is
 * none.
 */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  const file = await findByName(name, path)
  return file === undefined ? undefined : realpath(file)
}

/**
 * Finds a program in the directories of a PATH. Symbolic links are not resolved, because some programs behave according to
 * the name by which they are started. The current directory is never searched (S-40).
 */
export async function findByName(name: string, path: string): Promise<string | undefined> {
  for (const directory of absoluteDirectories(path))
    for (const suffix of process.platform === 'win32' ? ['.exe'] : ['']) {
      const file = join(directory, `${name}${suffix}`)
      if (await isProgram(file)) return file
    }
  return undefined
}

/** Whether a directory of the PATH has a file of this name, executable or not. A directory of that name does not count. */
export function hasFile(name: string, path: string): boolean {
  return absoluteDirectories(path).some((directory) => {
    try {
      return statSync(join(directory, name)).isFile()
    } catch {
      return false
    }
  })
}

/**
 * Returns the absolute directories of a PATH. Relative directories are left out, because they depend on the current
 * directory.
 */
export function absoluteDirectories(path: string): readonly string[] {
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
