import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { findHost } from '../serve/discovery.ts'
import type { HostFile } from '../serve/discovery.ts'
import { localAddress } from './host-socket.ts'

/**
 * Returns the host of a data folder if something listens at its address. A running process alone proves nothing:
 * after a crash, `host.json` still names the host, and another process may have got its process id.
 */
export async function answeringHost(data: string): Promise<HostFile | undefined> {
  const found = await findHost(data)
  return found && (await isListening(found.url)) ? found : undefined
}

function isListening(url: string): Promise<boolean> {
  const socket = socketTo(url)
  return new Promise((resolve) => {
    const end = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}

function socketTo(url: string): Socket {
  const local = localAddress(url)
  if (local) return connect(local.path)
  const { protocol, hostname, port } = new URL(url)
  const number = Number(port) || (protocol === 'wss:' ? 443 : 80)
  return connect(number, hostname.replace(/^\[(.*)\]$/, '$1'))
}
