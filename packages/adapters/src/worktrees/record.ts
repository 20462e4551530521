import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import type { Worktree } from '@atrium/host/ports/worktrees'
import { codeOf } from '../process/error-code.ts'
import { syncFolder } from '../process/sync-folder.ts'
import type { Machine } from './machine.ts'

/** What is known of a worktree. It is written before anything is created, so that a crash leaves nothing unknown behind. */
export interface WorktreeRecord extends Worktree {
  readonly phase: 'creating' | 'ready' | 'removing'
  /** The git directory of the worktree: `<repository>/worktrees/<name>`. */
  readonly gitDir: string
  readonly commonDir: string
  /** Whether the folder was there before, and empty. */
  readonly folderExisted: boolean
  /** The SHA-256 of the ignored files that were copied, by their paths. */
  readonly copied: { readonly [path: string]: string }
  /** A commit with the uncommitted changes that were applied last. */
  readonly applied?: string
}

export async function readRecord(machine: Machine, id: string): Promise<WorktreeRecord | undefined> {
  if (!/^[\w-]{1,64}$/.test(id)) throw new WorktreeRefused(`${JSON.stringify(id)} is no id of a worktree.`)
  // This adapter has written the file itself.
  return (await readJson(fileOf(machine, id))) as WorktreeRecord | undefined
}

export async function requireRecord(machine: Machine, id: string): Promise<WorktreeRecord> {
  const record = await readRecord(machine, id)
  if (record?.phase !== 'ready') throw new WorktreeRefused('This session has no worktree.')
  return record
}

export function writeRecord(machine: Machine, record: WorktreeRecord): Promise<void> {
  return writeJson(fileOf(machine, record.id), record)
}

export async function deleteRecord(machine: Machine, id: string): Promise<void> {
  await rm(applyFolder(machine, id), { recursive: true, force: true })
  await rm(fileOf(machine, id), { force: true })
}

/** Returns the folder with the journal and the new files of a worktree that is being applied. */
export function applyFolder({ folder }: Machine, id: string): string {
  return join(folder, `${id}.apply`)
}

/** Returns the ids of all worktrees. */
export async function recordIds({ folder }: Machine): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.flatMap((name) => /^([\w-]+)\.json$/.exec(name)?.[1] ?? [])
}

export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    if (error instanceof SyntaxError)
      throw new WorktreeRefused('What the host has stored about this worktree is damaged.')
    throw error
  }
}

/** Writes a file as a whole, and durably. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  const folder = join(path, '..')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const handle = await open(`${path}.new`, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(value))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${path}.new`, path)
  await syncFolder(folder)
}

function fileOf({ folder }: Machine, id: string): string {
  return join(folder, `${id}.json`)
}
