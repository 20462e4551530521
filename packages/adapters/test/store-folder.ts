import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { onTestFinished } from 'vitest'
import { creation, envelope, step } from '../../host/src/ports/contracts/fixture.contract.ts'
import { openSqlite } from '../src/store/sqlite/sqlite.ts'
import type { SqliteOptions } from '../src/store/sqlite/sqlite.ts'

export const one = 'ahp-chat:/1'
export const two = 'ahp-chat:/2'

/** Creates a temporary folder that is removed after the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Opens the store. It is closed after the test. */
export async function open(folder: string, options?: SqliteOptions) {
  const store = await openSqlite(folder, options)
  onTestFinished(() => store.log.close())
  return store
}

/**
 * Creates a store with two channels and closes it. Channel `one` has no head. Channel `two` has two rows, and a head that
 * was written when the channel was created.
 */
export async function filled(): Promise<string> {
  const folder = newFolder()
  cpSync(await (filledOnce ??= fill()), folder, { recursive: true })
  return folder
}

/** The store that `filled` copies. A copy needs no thread. */
let filledOnce: Promise<string> | undefined

async function fill(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-store-filled-'))
  const { log } = await openSqlite(folder)
  const envelopes = Array.from({ length: 18 }, (_, i) => envelope(1001 + i, i % 2 ? two : one))
  const rows = ['one', 'two'].map((text, i) => ({ channel: two, id: `t${i + 1}`, text }))
  const heads = [{ channel: two, seq: 1, state: '{"n":1}' }]
  log.append(step({ created: [creation(one, 1), creation(two, 1)], envelopes, rows, heads, upTo: 5000 }))
  await log.flush()
  await log.close()
  return folder
}

/** Changes the database file directly by SQL, without the store. */
export function tamper(folder: string, sql: string): void {
  const db = new DatabaseSync(join(folder, 'atrium.db'))
  db.exec(`PRAGMA journal_mode = DELETE; ${sql}`)
  db.close()
}
