import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Listening } from '@atrium/adapters/server'
import type { Settings } from './config-fields.ts'
import { CommandError, systemCode } from '../terminal/exit.ts'

export const defaultPort = 7433

export interface BoundPort {
  readonly listening: Listening
  readonly notes: readonly string[]
}

/**
 * Listens on the configured port. Without one, tries the port that this data folder used last, so that clients find
 * the host again; then the default port; then any free port.
 */
export async function findPort(
  settings: Settings,
  listenAt: (port: number) => Promise<Listening>,
): Promise<BoundPort> {
  if (settings.socket !== undefined || settings.port !== undefined) {
    const listening = await listenAt(settings.port ?? 0).catch((error: unknown) => explain(error, settings))
    if (settings.port !== 0) await savePort(settings, listening.port)
    return { listening, notes: [] }
  }
  const wanted = (await lastPort(settings.data)) ?? defaultPort
  for (const port of [wanted, defaultPort, 0]) {
    const listening = await listenAt(port).catch((error: unknown) => {
      if (systemCode(error) !== 'EADDRINUSE') explain(error, settings)
    })
    if (!listening) continue
    await savePort(settings, listening.port)
    const moved = listening.port !== wanted
    return { listening, notes: moved ? [`Port ${wanted} is taken; this is ${listening.port}.`] : [] }
  }
  throw new CommandError('No port is free; name one with --port.')
}

async function lastPort(data: string): Promise<number | undefined> {
  const text = await readFile(join(data, 'port'), 'utf8').catch(() => '')
  const port = /^[1-9]\d{0,4}$/.test(text.trim()) ? Number(text) : undefined
  return port !== undefined && port <= 65535 ? port : undefined
}

async function savePort({ data, readOnly }: Settings, port: number): Promise<void> {
  if (readOnly || port === 0) return
  // A failure is ignored: the next start may only get another port, which its banner shows.
  await writeFile(join(data, 'port'), `${port}\n`, { mode: 0o600 }).catch(() => {})
}

function explain(error: unknown, { socket, port = defaultPort, host }: Settings): never {
  const where = socket ?? `port ${port}`
  const sentences: { readonly [code: string]: string } = {
    EADDRINUSE:
      socket === undefined
        ? `Port ${port} is taken by another program; choose another with --port, or any free one with --port 0.`
        : `${socket} is taken by another program or is no socket; choose another path with --socket.`,
    EACCES: `This user may not listen on ${where}; choose another one.`,
    EADDRNOTAVAIL: `${host ?? 'That'} is no address of this machine; leave out --host.`,
    ENOTFOUND: `${host ?? 'That'} is no address of this machine; leave out --host.`,
    ENOENT: `There is no folder for ${where}; make it first.`,
  }
  const sentence = sentences[systemCode(error) ?? '']
  throw sentence === undefined ? error : new CommandError(sentence)
}
