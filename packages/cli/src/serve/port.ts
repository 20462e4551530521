import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Listening } from '@atrium/adapters/server'
import type { Settings } from './config-fields.ts'
import { Problem } from '../terminal/exit.ts'

export const defaultPort = 7433

export interface Found {
  readonly listening: Listening
  readonly notes: readonly string[]
}

/**
 * Listens on the port that was asked for; else on the one that this data folder used last, so that clients find it
 * again; else on the default one; else on any.
 */
export async function findPort(
  settings: Settings,
  listenAt: (port: number) => Promise<Listening>,
): Promise<Found> {
  if (settings.socket !== undefined || settings.port !== undefined) {
    const listening = await listenAt(settings.port ?? 0).catch((error: unknown) => explain(error, settings))
    if (settings.port !== 0) await remember(settings, listening.port)
    return { listening, notes: [] }
  }
  const wanted = (await lastPort(settings.data)) ?? defaultPort
  for (const port of [wanted, defaultPort, 0]) {
    const listening = await listenAt(port).catch((error: unknown) => {
      if (codeOf(error) !== 'EADDRINUSE') explain(error, settings)
    })
    if (!listening) continue
    await remember(settings, listening.port)
    const moved = listening.port !== wanted
    return { listening, notes: moved ? [`Port ${wanted} is taken; this is ${listening.port}.`] : [] }
  }
  throw new Problem('No port is free; name one with --port.')
}

async function lastPort(data: string): Promise<number | undefined> {
  const text = await readFile(join(data, 'port'), 'utf8').catch(() => '')
  const port = /^[1-9]\d{0,4}$/.test(text.trim()) ? Number(text) : undefined
  return port !== undefined && port <= 65535 ? port : undefined
}

async function remember({ data, readOnly }: Settings, port: number): Promise<void> {
  if (readOnly || port === 0) return
  // Losing it costs a client one look at the banner.
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
  const sentence = sentences[codeOf(error) ?? '']
  throw sentence === undefined ? error : new Problem(sentence)
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
