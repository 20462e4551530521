import type { WebSocket } from 'ws'

export interface HeartbeatOptions {
  /** The interval of pings to a silent peer, in milliseconds. */
  readonly pingMs: number
  /** The silence after which a connection counts as dead, in milliseconds. */
  readonly deadMs: number
}

export const defaultHeartbeat: HeartbeatOptions = { pingMs: 5000, deadMs: 20_000 }

/**
 * The speed of the slowest accepted reader, in bytes per millisecond. While data is unsent, the time limit is longer by the
 * time that this data takes at this speed. So a slow reader does not count as dead.
 */
const slowestReader = 256

/**
 * Terminates a connection whose peer vanished without closing it (F-19); TCP alone would keep the connection for minutes. Any
 * received byte proves that the peer is alive. A socket that the host does not read from counts as alive. Silence is counted in
 * beats of the timer and not by a clock, so that a host that wakes from sleep keeps its connections.
 */
export function keepAlive(
  socket: WebSocket,
  wire: { readonly bytesRead: number },
  { pingMs, deadMs }: HeartbeatOptions = defaultHeartbeat,
): void {
  let read = wire.bytesRead
  let silentMs = 0
  const beat = (): void => {
    silentMs = wire.bytesRead === read && !socket.isPaused ? silentMs + pingMs : 0
    read = wire.bytesRead
    if (silentMs > deadMs + socket.bufferedAmount / slowestReader) socket.terminate()
    else if (silentMs > 0 && socket.readyState === socket.OPEN) socket.ping()
  }
  const timer = setInterval(beat, pingMs).unref()
  socket.once('close', () => clearInterval(timer))
}
