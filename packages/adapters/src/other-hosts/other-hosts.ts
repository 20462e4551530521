import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, opendirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { OtherHosts, Sighting } from '@atrium/host/ports/other-hosts'
import { realPath, repositoryAbove } from '../git/repository.ts'
import { lifeOf, ownIdentity } from '../process/process-identity.ts'
import { readMark, writeMark } from './mark.ts'
import type { Mark, Noted } from './mark.ts'

/**
 * Hosts of one user that leave marks for each other. Each host has a file in `folder`, and one in the shared git directory of each
 * repository in which it works: there, hosts that have another home or another system find it, such as those in a container. A mark
 * is not flushed, because its host does not survive a crash of the system either.
 */
export function markedHosts({ folder }: { readonly folder: string }): OtherHosts {
  const name = `host-${randomBytes(8).toString('hex')}`
  /** By place: what this host has noted there. */
  const own = new Map<string, Map<string, Noted>>()
  let number = 0

  return {
    note(directory, active) {
      const real = realPath(directory) ?? directory
      number++
      for (const place of placesOf(folder, real)) {
        const folders = own.get(place) ?? new Map<string, Noted>()
        own.set(place, folders)
        folders.delete(real)
        folders.set(real, { number, active })
        // The folder that was used least recently comes first.
        const [oldest] = [...folders].find((each) => each[1].active === 0) ?? []
        if (folders.size > mostFolders && oldest !== undefined) folders.delete(oldest)
        write(place, join(place, name), { ...ownIdentity(), folders })
      }
    },
    look(directory) {
      const real = realPath(directory) ?? directory
      let active = false
      const notes = new Map<string, number>()
      for (const place of placesOf(folder, real))
        for (const host of namesIn(place)) {
          const seen = host === name ? undefined : seenIn(join(place, host), real)
          if (!seen) continue
          active ||= seen.active
          notes.set(host, Math.max(seen.number, notes.get(host) ?? 0))
        }
      return { active, notes } satisfies Sighting
    },
  }
}

/** Reads the mark of a host, and removes one that is not needed any more. */
function seenIn(
  path: string,
  directory: string,
): { readonly number: number; readonly active: boolean } | undefined {
  const { mark, age } = readMark(path)
  const life = mark ? lifeOf(mark) : 'unknown'
  if (life !== 'runs' && age > (life === 'ended' ? endedMs : unknownMs)) rmQuietly(path)
  const noted = [...(mark?.folders ?? [])].flatMap(([each, of]) =>
    isIn(each, directory) || isIn(directory, each) ? [of] : [],
  )
  if (noted.length === 0) return undefined
  const may = life === 'runs' || (life === 'unknown' && age < unknownMs)
  return {
    number: Math.max(...noted.map((of) => of.number)),
    active: may && noted.some((of) => of.active > 0),
  }
}

/** The places in which the hosts that work in a folder leave their marks. */
function placesOf(folder: string, directory: string): readonly string[] {
  const repository = repositoryAbove(directory)
  const me = process.getuid?.()
  const isOwn = repository && (me === undefined || repository.owners.every((owner) => owner === me))
  return isOwn ? [folder, join(repository.commonDir, 'atrium')] : [folder]
}

function write(place: string, path: string, mark: Mark): void {
  try {
    if (!isFolder(place)) mkdirSync(place, { mode: 0o700, recursive: true })
    if (isFolder(place)) writeMark(path, mark)
  } catch {
    // The folder is read-only, or the disk is full: the others do not see this host.
  }
}

/** Returns the names of the marks in a place. Somebody may have put many other things there. */
function namesIn(place: string): readonly string[] {
  const names: string[] = []
  try {
    if (!isFolder(place)) return names
    const entries = opendirSync(place)
    try {
      for (let i = 0; i < mostNames; i++) {
        const entry = entries.readSync()
        if (!entry) break
        if (/^host-[\da-f]{16}$/.test(entry.name)) names.push(entry.name)
      }
    } finally {
      entries.closeSync()
    }
  } catch {
    // A place that cannot be read has no marks.
  }
  return names
}

/** Whether a path is a directory that belongs to this user. A symbolic link to a directory does not count. */
function isFolder(place: string): boolean {
  const found = lstatSync(place, { throwIfNoEntry: false })
  if (!found) return false
  return found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid())
}

function rmQuietly(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // It stays, and is not read.
  }
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

/** In ms. A host may have come and gone while another one had a long call: the mark of a host that has ended stays for an hour. */
const endedMs = 60 * 60_000
/** In ms. A host of which nobody can tell whether it runs, as one in a container, counts for a day after its last note. */
const unknownMs = 24 * 60 * 60_000
/** The number of folders in a mark. */
const mostFolders = 50
/** The number of names that are looked at in a place. */
const mostNames = 1000
