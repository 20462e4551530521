import { constants, statSync } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

/** Where a program is, by the directories of a PATH, and behind all links. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  const file = await findByName(name, path)
  return file === undefined ? undefined : realpath(file)
}

/** The same as it is called there: some programs are many, and go by the name that they were started with. Never in the current directory (S-40). */
export async function findByName(name: string, path: string): Promise<string | undefined> {
  for (const directory of absolute(path))
    for (const suffix of process.platform === 'win32' ? ['.exe'] : ['']) {
      const file = join(directory, `${name}${suffix}`)
      if (await isProgram(file)) return file
    }
  return undefined
}

/** Whether a file of this name can be seen in a directory of the PATH, be it executable or not. A directory of that name is none. */
export function hasFile(name: string, path: string): boolean {
  return absolute(path).some((directory) => {
    try {
      return statSync(join(directory, name)).isFile()
    } catch {
      return false
    }
  })
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
