import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { fields } from './config-fields.ts'
import type { Field, Settings } from './config-fields.ts'
import { CommandError } from '../terminal/exit.ts'

/** The parsed command line, by the names of the settings. */
export type Flags = { readonly [K in keyof Settings]?: unknown }

export interface Configured {
  readonly settings: Settings
  readonly warnings: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

/** Merges the settings. Flags override the environment, which overrides the file, which overrides the defaults. */
export async function configure(flags: Flags, environment: Environment): Promise<Configured> {
  const path = configPath(environment)
  const file = await readJson(path)
  const warnings = Object.keys(file)
    .filter((key) => !isKey(key))
    .map((key) => `${path}: '${key}' is no setting, so it is ignored.`)
  const values: Partial<Record<keyof Settings, unknown>> = {}
  for (const key of Object.keys(fields).filter(isKey)) {
    const field: Field = fields[key]
    const fromFile = file[key]
    const fromEnvironment = environment[field.variable]
    const fromFlag = flags[key]
    if (fromFile !== undefined) values[key] = checked(field, fromFile, `'${key}' in ${path}`, 1)
    if (fromEnvironment !== undefined && fromEnvironment !== '')
      values[key] = checked(field, field.parse(fromEnvironment), field.variable, 1)
    if (fromFlag !== undefined) {
      const value = typeof fromFlag === 'string' ? field.parse(fromFlag) : fromFlag
      values[key] = checked(field, value, field.flag ?? key, 2)
    }
  }
  // Each value was accepted by the `Field` of its key. The types cannot express this, so a cast is needed.
  return { settings: withDefaults(values as Partial<Settings>, environment), warnings }
}

/** The path of the config file: `$XDG_CONFIG_HOME/atrium/config.json`, by default in `~/.config`. */
export function configPath({ XDG_CONFIG_HOME, HOME = homedir() }: Environment): string {
  return join(XDG_CONFIG_HOME || join(HOME, '.config'), 'atrium', 'config.json')
}

/** Returns the environment for a host that works in another folder: paths in variables count from the folder of this process. */
export function withAbsolutePaths(environment: Environment): Environment {
  const variables = Object.values(fields).flatMap(({ isPath, variable }) => (isPath ? [variable] : []))
  const absolute = [...variables, 'ATRIUM_POSTGRES_PASSWORD_FILE', 'XDG_CONFIG_HOME'].flatMap((name) => {
    const value = environment[name]
    return value ? [[name, resolve(value)] as const] : []
  })
  return { ...environment, ...Object.fromEntries(absolute) }
}

/** The folder for what all hosts of the user know of each other: `$XDG_STATE_HOME/atrium`, by default in `~/.local/state`. */
export function stateFolder({ XDG_STATE_HOME = '', HOME = homedir() }: Environment): string {
  return join(isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(HOME, '.local', 'state'), 'atrium')
}

function withDefaults(given: Partial<Settings>, { XDG_DATA_HOME, HOME = homedir() }: Environment): Settings {
  const data = given.data ?? join(XDG_DATA_HOME || join(HOME, '.local', 'share'), 'atrium')
  if (given.withoutConnectionToken && (given.connectionToken ?? given.connectionTokenFile) !== undefined)
    throw new CommandError('A token and --without-connection-token exclude each other; leave one out.', 2)
  if ((given.tlsCert === undefined) !== (given.tlsKey === undefined))
    throw new CommandError('--tls-cert and --tls-key go together; give both.', 2)
  if (given.standby && given.store === undefined)
    throw new CommandError('--standby needs a database; name it with --store.', 2)
  if (given.standby && given.readOnly)
    throw new CommandError('--standby and --read-only exclude each other; leave one out.', 2)
  return { ...given, data: resolve(data) }
}

function checked(field: Field, value: unknown, where: string, exit: 1 | 2): unknown {
  if (field.accepts(value)) return value
  throw new CommandError(`${where} must be ${field.wants}.`, exit)
}

function isKey(key: string): key is keyof Settings {
  return Object.hasOwn(fields, key)
}

async function readJson(path: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw new CommandError(
      `${path} cannot be read (${error.code ?? 'unknown'}); check its permissions or remove it.`,
    )
  })
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // The parser's error quotes the file, which may hold a secret. So the error below replaces it.
  }
  throw new CommandError(`${path} is not a JSON object; correct it or remove it.`)
}
