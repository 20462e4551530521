import { chmod, lstat, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { ListenOptions, Server, Socket } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { bracketed, hostsOf } from './address.ts'
import type { Address } from './address.ts'
import { codeOf } from '../process/error-code.ts'

/** The listening sockets of a host: one port on several addresses, or one unix socket. */
export interface Bound {
  /** `address:port` of each listening socket, as in a URL; or the path of the unix socket. */
  readonly names: readonly string[]
  /** 0 for a unix socket. */
  readonly port: number
  /** Stops listening. Resolves when all accepted sockets have ended. */
  close(): Promise<void>
}

export async function bind(address: Address, accept: (socket: Socket) => void): Promise<Bound> {
  if (address.socket !== undefined) return bindPath(address.socket, accept)
  const port = address.port ?? 0
  for (let tries = 1; ; tries++) {
    try {
      return await bindPort(hostsOf(address), port, accept)
    } catch (error) {
      // With port 0, the port that the system chose on one address may be taken on the other. Then another port is tried.
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
        if (host === '::1' && servers.length > 0 && noIpv6.includes(codeOf(error) ?? '')) return undefined
        throw error
      })
      if (!server) continue
      servers.push(server)
      port = portOf(server)
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
    if (codeOf(error) !== 'EADDRINUSE' || !(await isAbandoned(path))) throw error
    await rm(path)
    return listening(accept, { path })
  })
  // In a worker thread, `listening` cannot set the umask. So the permissions are set here, after the bind.
  await chmod(path, 0o600)
  return { names: [path], port: 0, close: () => closeAll([server]) }
}

/** Whether a socket file has no listener: its host was killed. */
async function isAbandoned(path: string): Promise<boolean> {
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
    // A socket file gets its permissions from the umask. The bind is synchronous, so the changed umask applies to nothing
    // else.
    const umask = isMainThread ? process.umask(0o177) : undefined
    server.listen(where, () => resolve(server))
    if (umask !== undefined) process.umask(umask)
  })
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
}

/** Errors of a machine without IPv6. */
const noIpv6: readonly string[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
  return address.port
}
