import type { WebSocket } from 'ws'

export interface Pulse {
  /** A quiet peer is pinged this often, in milliseconds. */
  readonly pingMs: number
  /** After so long without any sign of it the link is dead. */
  readonly deadMs: number
}

export const pulse: Pulse = { pingMs: 5000, deadMs: 20_000 }

/** A reader that takes fewer bytes a millisecond is as good as gone; one that takes more may need long for an answer. */
const slowest = 256

/**
 * Lets go of a peer that went without saying so (F-19): TCP alone would keep it for many minutes. Any byte from it is a
 * sign of life. Beats are counted and not a clock, so that a host that slept itself wakes up with all its links.
 */
export function keepAlive(
  socket: WebSocket,
  wire: { readonly bytesRead: number },
  { pingMs, deadMs }: Pulse = pulse,
): void {
  let read = wire.bytesRead
  let silent = 0
  const beat = (): void => {
    silent = wire.bytesRead === read ? silent + pingMs : 0
    read = wire.bytesRead
    if (silent > deadMs + socket.bufferedAmount / slowest) socket.terminate()
    else if (silent > 0 && socket.readyState === socket.OPEN) socket.ping()
  }
  const timer = setInterval(beat, pingMs).unref()
  socket.once('close', () => clearInterval(timer))
}
