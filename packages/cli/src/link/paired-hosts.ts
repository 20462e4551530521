import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readToken } from '@atrium/adapters/server/token'
import { configPath } from '../serve/config.ts'
import { systemCode } from '../terminal/exit.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The file for the credential that `atrium pair` got from the host at this URL. */
export function credentialFile(url: string, env: Environment): string {
  const { protocol, host } = new URL(url)
  const name = `${protocol === 'wss:' ? 'wss' : 'ws'}-${host}`.replaceAll(/[^A-Za-z0-9.-]/g, '_')
  return join(dirname(configPath(env)), 'hosts', `${name}.token`)
}

/** The credential of this machine for the host at a URL; undefined if it was never paired with that host. */
export async function credentialFor(url: string, env: Environment): Promise<string | undefined> {
  return readToken(credentialFile(url, env)).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  })
}

/** Keeps a credential in a file that only this user can read. */
export async function keepCredential(url: string, token: string, env: Environment): Promise<string> {
  const path = credentialFile(url, env)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await chmod(dirname(path), 0o700)
  const fresh = `${path}.${process.pid}`
  await writeFile(fresh, `${token}\n`, { mode: 0o600 })
  await rename(fresh, path)
  return path
}
