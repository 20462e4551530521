import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fields } from './config-fields.ts'
import type { Field, Settings } from './config-fields.ts'
import { Problem } from '../terminal/exit.ts'

/** What the command line gave, by the names of the settings. */
export type Flags = { readonly [K in keyof Settings]?: unknown }

export interface Configured {
  readonly settings: Settings
  readonly warnings: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

/** Defaults, then the file, then the environment, then flags: the later one wins. */
export async function configure(flags: Flags, environment: Environment): Promise<Configured> {
  const path = configPath(environment)
  const file = await readJson(path)
  const warnings = Object.keys(file)
    .filter((key) => !isKey(key))
    .map((key) => `${path}: nothing is called '${key}', so it is ignored.`)
  const said: Partial<Record<keyof Settings, unknown>> = {}
  for (const key of Object.keys(fields).filter(isKey)) {
    const field: Field = fields[key]
    const fromFile = file[key]
    const fromEnvironment = environment[field.variable]
    const fromFlag = flags[key]
    if (fromFile !== undefined) said[key] = checked(field, fromFile, `'${key}' in ${path}`, 1)
    if (fromEnvironment !== undefined && fromEnvironment !== '')
      said[key] = checked(field, field.parse(fromEnvironment), field.variable, 1)
    if (fromFlag !== undefined) {
      const value = typeof fromFlag === 'string' ? field.parse(fromFlag) : fromFlag
      said[key] = checked(field, value, field.flag, 2)
    }
  }
  return { settings: complete(said as Partial<Settings>, environment), warnings }
}

/** `$XDG_CONFIG_HOME/atrium/config.json`, which is in `~/.config` unless somebody moved it. */
export function configPath({ XDG_CONFIG_HOME, HOME = homedir() }: Environment): string {
  return join(XDG_CONFIG_HOME || join(HOME, '.config'), 'atrium', 'config.json')
}

function complete(said: Partial<Settings>, { XDG_DATA_HOME, HOME = homedir() }: Environment): Settings {
  const data = said.data ?? join(XDG_DATA_HOME || join(HOME, '.local', 'share'), 'atrium')
  if (said.withoutConnectionToken && (said.connectionToken ?? said.connectionTokenFile) !== undefined)
    throw new Problem('A token and --without-connection-token exclude each other; leave one out.', 2)
  if ((said.tlsCert === undefined) !== (said.tlsKey === undefined))
    throw new Problem('--tls-cert and --tls-key go together; give both.', 2)
  return { ...said, data: resolve(data) }
}

function checked(field: Field, value: unknown, where: string, exit: 1 | 2): unknown {
  if (field.accepts(value)) return value
  throw new Problem(`${where} must be ${field.wants}.`, exit)
}

function isKey(key: string): key is keyof Settings {
  return Object.hasOwn(fields, key)
}

async function readJson(path: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw new Problem(`${path} cannot be read (${error.code ?? 'unknown'}); see to its modes or remove it.`)
  })
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Said below, without the text: it may hold a secret.
  }
  throw new Problem(`${path} is not a JSON object; mend it or remove it.`)
}
