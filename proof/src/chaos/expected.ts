import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatState } from '@atrium/protocol/chat/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { Client } from './client.ts'
import type { Sessions } from './load.ts'

interface Expectation {
  readonly what: string
  /** Milliseconds after which the event counts as missing. */
  readonly timeoutMs: number
  readonly clients: readonly Client[]
  /** What the hosts have written. */
  readonly logs: () => readonly string[]
}

/** Waits for an event that must happen. Rejects with its name, what clients wait for, and what hosts said, if it does not. */
export function expected<T>(event: Promise<T>, { what, timeoutMs, clients, logs }: Expectation): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const never = new Promise<never>((_, reject) => {
    const expire = (): void => {
      const pending = clients.map((client) => client.pendingText)
      reject(new Error([`timed out: ${what}`, ...pending, ...logs()].join('\n')))
    }
    timer = setTimeout(expire, timeoutMs)
  })
  return Promise.race([event, never]).finally(() => clearTimeout(timer))
}

/** Waits until no chat has an active turn. Subscribes again and again, because this client does not fold actions. */
export async function turnsEnded(newcomer: Client, sessions: Sessions): Promise<void> {
  for (const chat of sessions.live.map(defaultChatUri))
    for (;;) {
      await newcomer.subscribe(chat)
      // The state is the host's own: hence the cast.
      const { activeTurn } = (newcomer.shown.get(chat) ?? {}) as Partial<ChatState>
      if (!activeTurn) break
      await sleep(100)
    }
}
