import type pg from 'pg'

/** An action as a log stores it. */
export interface LogRow {
  readonly channel: string
  readonly action: string
  readonly origin: string
}

/** The number of actions in a batch: many enough that the sync of a commit costs little, and few enough that an echo does not wait long. */
const batchLength = 500

/**
 * The table that a host on PostgreSQL is compared with: the bytes of the same actions with one index, without checks,
 * checksums, a fence or clients. Statements are prepared once. A batch is one statement and one commit.
 */
export class BareLog {
  readonly #client: pg.Client
  #seq = 0

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async create(client: pg.Client): Promise<BareLog> {
    await client.query(
      `CREATE SCHEMA bare;
       CREATE TABLE bare.log (seq bigint PRIMARY KEY, channel text NOT NULL, action text NOT NULL, origin text)`,
    )
    return new BareLog(client)
  }

  /** Stores actions that are all there at once. Returns the milliseconds that it took. */
  async burst(rows: readonly LogRow[]): Promise<number> {
    const began = performance.now()
    for (let at = 0; at < rows.length; at += batchLength) await this.#insert(rows.slice(at, at + batchLength))
    return performance.now() - began
  }

  /** Stores one action. Returns the milliseconds until its commit was answered. */
  async commit(row: LogRow): Promise<number> {
    const began = performance.now()
    await this.#client.query({
      name: 'one',
      text: 'INSERT INTO bare.log VALUES ($1, $2, $3, $4)',
      values: [++this.#seq, row.channel, row.action, row.origin],
    })
    return performance.now() - began
  }

  async #insert(rows: readonly LogRow[]): Promise<void> {
    await this.#client.query({
      name: 'many',
      text: 'INSERT INTO bare.log SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[])',
      values: [
        rows.map(() => ++this.#seq),
        rows.map(({ channel }) => channel),
        rows.map(({ action }) => action),
        rows.map(({ origin }) => origin),
      ],
    })
  }
}
