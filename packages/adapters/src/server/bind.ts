import { chmod, lstat, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo, ListenOptions, Server, Socket } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { bracketed, hostsOf } from './address.ts'
import type { Address } from './address.ts'

/** Servers that share one port, or one unix socket. */
export interface Bound {
  /** `address:port` of each as it stands in a URL, or the path. */
  readonly names: readonly string[]
  /** 0 for a unix socket. */
  readonly port: number
  /** Resolves when every socket that was accepted has ended. */
  close(): Promise<void>
}

export async function bind(address: Address, accept: (socket: Socket) => void): Promise<Bound> {
  if (address.socket !== undefined) return bindPath(address.socket, accept)
  const port = address.port ?? 0
  for (let tries = 1; ; tries++) {
    try {
      return await bindPort(hostsOf(address), port, accept)
    } catch (error) {
      // Any port will do, and the one that was free in one family was taken in the other.
      if (port !== 0 || tries === 10 || codeOf(error) !== 'EADDRINUSE') throw error
    }
  }
}

async function bindPort(
  hosts: readonly string[],
  wanted: number,
  accept: (socket: Socket) => void,
): Promise<Bound> {
  const servers: Server[] = []
  const names: string[] = []
  let port = wanted
  try {
    for (const host of hosts) {
      const server = await listening(accept, { host, port }).catch((error: unknown) => {
        if (host === '::1' && servers.length > 0 && noSuchFamily.includes(codeOf(error) ?? ''))
          return undefined
        throw error
      })
      if (!server) continue
      servers.push(server)
      port = (server.address() as AddressInfo).port
      names.push(`${bracketed(host)}:${port}`)
    }
  } catch (error) {
    await closeAll(servers)
    throw error
  }
  return { names, port, close: () => closeAll(servers) }
}

async function bindPath(path: string, accept: (socket: Socket) => void): Promise<Bound> {
  const server = await listening(accept, { path }).catch(async (error: unknown) => {
    if (codeOf(error) !== 'EADDRINUSE' || !(await isLeftOver(path))) throw error
    await rm(path)
    return listening(accept, { path })
  })
  // A worker has no umask of its own.
  await chmod(path, 0o600)
  return { names: [path], port: 0, close: () => closeAll([server]) }
}

/** A socket file that nobody listens on any more: a host was killed. */
async function isLeftOver(path: string): Promise<boolean> {
  if (!(await lstat(path)).isSocket()) return false
  return new Promise((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => resolve(false))
    probe.once('error', (error) => resolve(codeOf(error) === 'ECONNREFUSED'))
    probe.once('close', () => probe.destroy())
    probe.end()
  })
}

function listening(accept: (socket: Socket) => void, where: ListenOptions): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, accept)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    // A socket file is born with the modes that the umask leaves; binding is synchronous.
    const umask = isMainThread ? process.umask(0o177) : undefined
    server.listen(where, () => resolve(server))
    if (umask !== undefined) process.umask(umask)
  })
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
}

const noSuchFamily: readonly string[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
