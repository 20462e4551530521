import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { limits } from '@atrium/protocol/limits'

export interface LobbyLimits {
  /** Sockets that have proven nothing yet, though each has had a moment to. */
  readonly sockets: number
  /** Sockets that have proven nothing yet, at all. */
  readonly crowd: number
  /** That moment, in milliseconds. */
  readonly moment: number
  /** How long each of them may take, in milliseconds: handshake, head and answer together. */
  readonly patience: number
}

/** S-07. */
export const lobbyLimits: LobbyLimits = {
  sockets: limits.lobbySockets,
  crowd: limits.lobbyCrowd,
  moment: limits.lobbyMomentMs,
  patience: limits.upgradeMs,
}

/** Sockets between being accepted and being let in. */
export interface Lobby {
  /** A socket comes in; `seen` is what HTTP knows it as, which is another one under TLS. */
  enter(socket: Socket, seen: Duplex): void
  /** It is let in, and nobody waits for it any more. */
  leave(seen: Duplex): void
  /** Everybody in it is shown out. */
  clear(): void
  readonly size: number
}

interface Guest {
  readonly socket: Socket
  readonly timer: NodeJS.Timeout
  readonly since: number
}

export function lobby({ sockets, crowd, moment, patience }: LobbyLimits): Lobby {
  const waiting = new Map<Duplex, Guest>()
  const leave = (seen: Duplex): void => {
    clearTimeout(waiting.get(seen)?.timer)
    waiting.delete(seen)
  }
  return {
    enter(socket, seen) {
      const now = performance.now()
      // The oldest goes, not the newest: an honest client needs milliseconds, so a crowd that only sits cannot lock it
      // out. But not before it had its moment: a host that comes back is met by all its clients at once.
      const [oldest] = waiting.size >= sockets ? waiting : []
      if (oldest && (waiting.size >= crowd || now - oldest[1].since >= moment)) {
        leave(oldest[0])
        oldest[1].socket.destroy()
      }
      waiting.set(seen, { socket, timer: setTimeout(() => socket.destroy(), patience), since: now })
      socket.once('close', () => leave(seen))
    },
    leave,
    clear() {
      for (const { socket } of waiting.values()) socket.destroy()
    },
    get size() {
      return waiting.size
    },
  }
}
