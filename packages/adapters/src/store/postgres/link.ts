import type { QueryResultRow } from 'pg'
import { Failure, FULL, codeOf, isLoss, toFailure } from './failure.ts'
import type { PostgresPlace } from './place.ts'
import { connect, destroy, giveUp, silence } from './session.ts'
import type { Session } from './session.ts'

/** Runs a statement. `Row`: its rows, as the statement names their columns; never if no row is read. */
export type Query = <Row = never>(text: Statement, values?: readonly unknown[]) => Promise<Result<Row>>

/** A statement. The server prepares one with a name once for each connection. */
export type Statement = string | { readonly name: string; readonly text: string }

interface Result<Row> {
  readonly rows: readonly Row[]
  readonly rowCount: number | null
}

/** All times are in milliseconds. */
interface LinkOptions {
  readonly target: PostgresPlace
  /** The time until a lost connection is an error. */
  readonly patience: number
  /** The time until a silent server counts as lost. */
  readonly answer: number
  readonly idle: number
  /** SQL that sets up each connection. */
  readonly settings?: string | undefined
}

/** The first and the longest pause between two attempts to connect, in milliseconds. */
const PAUSE = { first: 20, most: 1000 }
/** The time that a server has to end a connection in order, in milliseconds. */
const FAREWELL = 1000

/** What is done with a connection. `attempt`: how many attempts there were before. */
type Work<T> = (query: Query, attempt: number) => Promise<T>

/**
 * A connection that is made again when it is lost. It does one work at a time, in order. A work is repeated after a loss, so
 * each must be written so that it can run twice: nobody knows whether the first run was committed.
 */
export class Link {
  readonly #options: LinkOptions
  #session: Session | undefined
  #last: Promise<unknown> = Promise.resolve()
  #closed = false
  /** Whether there was a connection once. Before that, a failure is not repeated: the place may be wrong. */
  #opened = false

  constructor(options: LinkOptions) {
    this.#options = options
  }

  /** Runs a work when all earlier ones are done. */
  run<T>(work: Work<T>): Promise<T> {
    const done = this.#last.then(() => this.#repeat(work))
    this.#last = done.catch(() => {})
    return done
  }

  /** Closes the connection after all earlier works. */
  async close(): Promise<void> {
    await this.#last
    this.#closed = true
    const session = this.#session
    this.#session = undefined
    if (!session) return
    let timer: NodeJS.Timeout | undefined
    const given = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FAREWELL)
    })
    await Promise.race([session.client.end().catch(() => {}), given])
    // A timer that goes on would keep the thread alive.
    clearTimeout(timer)
    destroy(session)
  }

  async #repeat<T>(work: Work<T>): Promise<T> {
    const { target, patience } = this.#options
    const began = performance.now()
    for (let attempt = 0, pause = PAUSE.first; ; attempt++, pause = Math.min(2 * pause, PAUSE.most)) {
      try {
        return await this.#once(work, attempt)
      } catch (error) {
        const waited = performance.now() - began
        if (!isLoss(error) || this.#closed || !this.#opened) throw toFailure(error, target)
        if (waited + pause > patience) throw unreachable(error, target, waited)
        await later(pause)
      }
    }
  }

  async #once<T>(work: Work<T>, attempt: number): Promise<T> {
    const session = await this.#connected()
    try {
      return await work(this.#queryOf(session), attempt)
    } catch (error) {
      if (session.silent !== undefined && !(error instanceof Failure)) throw silence(session)
      // A session that was lost may report an error of its own first. Whatever ran on it has an unknown outcome.
      if (!isLoss(error) && session.lost && !(error instanceof Failure))
        throw new Error(`Connection terminated: ${String(error)}`)
      if (codeOf(error) === FULL && (await this.#ended(session)))
        throw new Error(`Connection terminated: ${String(error)}`)
      throw error
    }
  }

  /**
   * Whether the server has ended a session. A server without space for its log ends all sessions, with the same code as a single
   * failed statement. The statement may have been committed then.
   */
  async #ended(session: Session): Promise<boolean> {
    try {
      await this.#queryOf(session)('SELECT 1')
      return false
    } catch (error) {
      return isLoss(error) || session.lost
    }
  }

  /** Returns the function that queries in a session. A server that does not answer in time counts as lost. */
  #queryOf(session: Session): Query {
    return async <Row>(text: Statement, values?: readonly unknown[]): Promise<Result<Row>> => {
      const { answer } = this.#options
      const timer = setTimeout(() => giveUp(session, answer), answer)
      try {
        const given = typeof text === 'string' ? { text } : text
        return await session.client.query<Row & QueryResultRow>(
          values ? { ...given, values: [...values] } : given,
        )
      } finally {
        clearTimeout(timer)
      }
    }
  }

  /** Returns the session. Ends the server's side of a lost one first, so that a late statement of it cannot run any more. */
  async #connected(): Promise<Session> {
    const before = this.#session
    if (before && !before.lost) return before
    const session = await connect(this.#options.target, this.#options)
    this.#opened = true
    try {
      if (before)
        await this.#queryOf(session)(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1
             AND (extract(epoch FROM backend_start) * 1000000)::int8 = $2`,
          [before.pid, before.began],
        )
    } catch (error) {
      // The next attempt must end the old connection, too.
      destroy(session)
      throw error
    }
    return (this.#session = session)
  }
}

/** Runs statements in one transaction. */
export async function transaction<T>(query: Query, work: () => Promise<T>, mode = ''): Promise<T> {
  await query(`BEGIN ${mode}`)
  try {
    const result = await work()
    await query('COMMIT')
    return result
  } catch (error) {
    if (!isLoss(error)) await query('ROLLBACK')
    throw error
  }
}

/** The mode of a transaction that reads: all of its queries see the same moment. */
export const READING = 'ISOLATION LEVEL REPEATABLE READ, READ ONLY'

function unreachable(error: unknown, target: PostgresPlace, waited: number): Failure {
  const { message } = toFailure(error, target)
  return new Failure('away', `${message}; gave up after ${Math.round(waited / 1000)} seconds`)
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
