import type { World } from '@atrium/host/ports/world'
import type { AcpSession } from './acp-session.ts'
import type { AcpConnection } from './process/connection.ts'

/**
 * The ACP session that a probe has opened. Its process is kept for a while: the first session that works in the folder of
 * the process uses it.
 */
export class SpareSession {
  readonly #later: World['later']
  #kept: { readonly session: AcpSession; readonly folder: string } | undefined

  constructor(later: World['later']) {
    this.#later = later
  }

  keep(session: AcpSession, folder: string): void {
    this.#kept = { session, folder }
    const { process } = session.connection
    const cancelTimer = this.#later(spareMs, () => {
      if (this.#kept?.session !== session) return
      this.#kept = undefined
      void session.end('delete').then(() => process.end())
    })
    void process.ended.then(cancelTimer)
  }

  /** Returns the connection if its process runs in this folder, and drops the ACP session. */
  take(folder: string): AcpConnection | undefined {
    if (this.#kept?.folder !== folder) return undefined
    const { session } = this.#kept
    this.#kept = undefined
    void session.end('delete')
    return session.connection.open ? session.connection : undefined
  }
}

const spareMs = 60_000
