import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { Store } from '@atrium/host/ports/store'
import { StoreLocked, openSqlite } from './sqlite.ts'

/** What a restore has found and done. */
export interface Restored {
  readonly sessions: number
  /** The sessions and chats that cannot be read in the copy. */
  readonly damaged: readonly string[]
  /** Whether the copy itself lacks changes that its host had confirmed. */
  readonly incomplete: boolean
  /** Whether the numbers are known that were used after the copy was made. */
  readonly boundKnown: boolean
  /** The folder that has the store which was there before. Undefined if there was none. */
  readonly aside?: string
}

/** The error of a restore that has changed nothing. The message says what to do. */
export class RestoreRefused extends Error {
  override readonly name = 'RestoreRefused'
}

/** The files of a store. The journal comes first: with a journal of another store, SQLite would change the database. */
const storeFiles = ['atrium.db-wal', 'atrium.db-shm', 'atrium.db', 'atrium.upto']
/** The files that are made of the store, and belong to one run of a host. They are not brought back. */
const derived =
  /^(search\.db.*|atrium\.pid|host\.json|host\.log.*|port|atrium-v\d.*|atrium-lost-.*|(before-restore|restoring)-.*)$/

/**
 * Brings the store in a copy of a data folder back into the data folder. The copy may be that of a killed host: its journal is used.
 * The copy is verified before anything changes, and the result afterwards. What was there is kept beside. Folders that the data
 * folder lacks, such as the contents of turns, are copied too. Nothing of the copy is changed.
 */
export async function restoreSqlite(copy: string, data: string): Promise<Restored> {
  if (resolve(copy) === resolve(data))
    throw new RestoreRefused(`${copy} is the data folder itself; name a copy of it.`)
  if (!existsSync(join(copy, 'atrium.db')))
    throw new RestoreRefused(`There is no atrium.db in ${copy}; name a copy of a data folder.`)
  const bound = Math.max(await boundOf(data), 0)
  // Only what was there knows later numbers. The copy does not.
  const boundKnown = Math.max(bound, textBound(data)) > 0
  await boundOf(copy)
  const stamp = new Date().toISOString().replace(/[-:]/g, '')
  const work = join(data, `restoring-${stamp}`)
  mkdirSync(work, { recursive: true, mode: 0o700 })
  try {
    for (const name of storeFiles)
      if (existsSync(join(copy, name))) cpSync(join(copy, name), join(work, name))
    const copied = textBound(copy)
    if (textBound(data) > copied) cpSync(join(data, 'atrium.upto'), join(work, 'atrium.upto'))
    const found = await examine(await openSqlite(work, { bound }).catch(refusal(copy)))
    const lacking = readdirSync(copy).filter(
      (name) => !derived.test(name) && !storeFiles.includes(name) && !existsSync(join(data, name)),
    )
    const aside = setAside(data, join(data, `before-restore-${stamp}`))
    try {
      for (const name of storeFiles.filter((each) => existsSync(join(work, each))))
        renameSync(join(work, name), join(data, name))
      for (const name of lacking) cpSync(join(copy, name), join(data, name), { recursive: true })
      const after = await examine(await openSqlite(data, { readOnly: true }))
      if (after.sessions !== found.sessions || after.damaged.length !== found.damaged.length)
        throw new RestoreRefused(
          `The store was not the same after the copy: ${data} may be on a damaged disk.`,
        )
    } catch (error) {
      for (const name of [...storeFiles, ...lacking])
        rmSync(join(data, name), { force: true, recursive: true })
      if (aside !== undefined) {
        for (const name of readdirSync(aside)) renameSync(join(aside, name), join(data, name))
        rmdirSync(aside)
      }
      throw error
    }
    const { sessions, damaged } = found
    return {
      sessions,
      damaged,
      incomplete: copied > found.upTo,
      boundKnown,
      ...(aside !== undefined && { aside }),
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The highest number that a store knows of. 0 if it cannot be read. Throws if a host uses the store. */
async function boundOf(folder: string): Promise<number> {
  try {
    const { log } = await openSqlite(folder, { readOnly: true })
    await log.close()
    return Math.max(log.upTo, log.lost ?? 0)
  } catch (error) {
    if (error instanceof StoreLocked)
      throw new RestoreRefused(
        `${error.message}; end it first: atrium stop, with --data if it is another folder.`,
      )
    return 0
  }
}

/** The number in the bound file of a folder, which the store verifies when it reads the file. */
function textBound(folder: string): number {
  const path = join(folder, 'atrium.upto')
  return (existsSync(path) && Number.parseInt(readFileSync(path, 'utf8'), 10)) || 0
}

/** Reads every session and its chats, and closes the store. */
async function examine({ log, records }: Store) {
  try {
    const damaged: string[] = []
    const read = async (uri: string): Promise<string> => {
      const loaded = await log.load(uri, 1)
      if (loaded && !('damaged' in loaded)) return loaded.state
      damaged.push(uri)
      return '{}'
    }
    const listed = await records.list('session/')
    for (const [key] of listed) {
      // The cast names the only member that is used.
      const { chats = [] } = JSON.parse(await read(key.slice('session/'.length))) as {
        readonly chats?: readonly { readonly resource: string }[]
      }
      for (const { resource } of chats) await read(resource)
    }
    return { sessions: listed.length, damaged, upTo: log.upTo }
  } finally {
    await log.close()
  }
}

function refusal(copy: string): (error: unknown) => never {
  return (error) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new RestoreRefused(`The copy in ${copy} cannot be used: ${reason}. Name another copy.`)
  }
}

/** Moves the files of the store into a folder of their own. Returns the folder; undefined if there was no store. */
function setAside(data: string, aside: string): string | undefined {
  const there = [...storeFiles, ...readdirSync(data).filter((name) => name.startsWith('search.db'))]
  const present = there.filter((name) => existsSync(join(data, name)))
  if (present.length === 0) return undefined
  mkdirSync(aside, { mode: 0o700 })
  for (const name of present) renameSync(join(data, name), join(aside, name))
  return aside
}
