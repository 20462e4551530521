import { compact } from '@atrium/protocol/update'
import { rootUri } from '@atrium/protocol/uri'
import type { Listener } from '../log/entry.ts'

/** How far something is that somebody waits for. It never goes back, and its last word is that all is done. */
export interface Progress {
  say(done: number, total: number, message?: string): void
  end(): void
}

export const noProgress: Progress = { say: () => {}, end: () => {} }

/** Said to the one that asked for it, under the token it gave. */
export function progressTo(listener: Listener, progressToken: string): Progress {
  let last = 0
  let all = 1
  let over = false
  const note = (progress: number, total: number, message?: string) => {
    const params = { channel: rootUri, progressToken, progress, total, message }
    listener.notify('root/progress', compact<typeof params>(params))
  }
  return {
    say(done, total, message) {
      if (over || !Number.isFinite(done) || !Number.isFinite(total)) return
      // The end is not the agent's to say.
      all = Math.max(all, total)
      last = Math.max(last, Math.min(done, all))
      if (last < all) note(last, all, message)
    },
    end() {
      if (!over) note(all, all)
      over = true
    },
  }
}
