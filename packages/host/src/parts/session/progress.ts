import { compact } from '@atrium/protocol/update'
import { rootUri } from '@atrium/protocol/uri'
import type { Listener } from '../../kernel/log/entry.ts'

/** Progress notifications of an operation. The reported progress never decreases, and the last report is 100 %. */
export interface Progress {
  report(done: number, total: number, message?: string): void
  end(): void
}

export const noProgress: Progress = { report: () => {}, end: () => {} }

/** Sends progress to one client, with the token that the client chose. */
export function progressTo(listener: Listener, progressToken: string): Progress {
  let last = 0
  let max = 1
  let over = false
  const send = (progress: number, total: number, message?: string) => {
    const params = { channel: rootUri, progressToken, progress, total, message }
    listener.notify('root/progress', compact<typeof params>(params))
  }
  return {
    report(done, total, message) {
      if (over || !Number.isFinite(done) || !Number.isFinite(total)) return
      max = Math.max(max, total)
      last = Math.max(last, Math.min(done, max))
      // Only `end` reports completion, because an agent that reports its own completion may still fail.
      if (last < max) send(last, max, message)
    },
    end() {
      if (!over) send(max, max)
      over = true
    },
  }
}
