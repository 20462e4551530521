import { listingsOf } from '../listings/part.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { CompletionItem } from '@atrium/protocol/chat/commands'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import { containedPath } from '../access/roots.ts'
import type { Core } from '../../kernel/core.ts'
import { childOf } from '../listings/file-listing.ts'
import type { ListedFile, Listing } from '../listings/file-listing.ts'
import { best, fold } from '../listings/fuzzy-match.ts'
import type { Match } from '../listings/fuzzy-match.ts'
import { withTimeout } from '../../kernel/timeout.ts'
import type { Channel } from '../../kernel/log/channel.ts'

/** What a completion inserts and attaches. */
export type Choice = Pick<CompletionItem, 'insertText' | 'attachment'>

/** The chat in which a user types. */
export interface CompletionContext {
  readonly core: Core
  readonly session: Channel<'session'>
  readonly chat: Channel<'chat'>
}

type Files = readonly ListedFile[]

/** What a source has found for a word, and whether it had the time to find everything. */
export interface Found<T> {
  readonly matches: readonly T[]
  readonly complete: boolean
}

const late: Listing = { files: [], complete: false }

/**
 * Finds the paths in the directories of a chat that match a word. `kept` chooses from a listing what may be
 * completed.
 */
export async function pathMatches(
  { core, session, chat }: CompletionContext,
  word: string,
  kept: (files: Files) => Files,
): Promise<Found<Match<Choice>>> {
  const { completionItems, completionMs, listings } = core.limits
  const directories = directoriesOf(core, session, chat).slice(0, listings)
  const lists = await Promise.all(
    directories.map(async (directory) => {
      const listed = listingsOf(core).of(directory)
      const { files, complete } = await withTimeout(core.world, completionMs, listed, () => late)
      const matches = best(kept(files), word, completionItems).flatMap(({ item: { path }, score }) => {
        const item = pathChoice(directory, path, directories.length > 1)
        return item ? [{ item, score }] : []
      })
      return { matches, complete }
    }),
  )
  return { matches: lists.flatMap(({ matches }) => matches), complete: lists.every((each) => each.complete) }
}

export function filesOf(files: Files): Files {
  return files
}

/** Adds the folders that contain the files of a listing to the listing. The path of a folder ends with a slash. */
export function filesAndFoldersOf(files: Files): Files {
  const made = withFolders.get(files)
  if (made) return made
  const folders = new Set<string>()
  for (const { path } of files)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  const all = [...Array.from(folders, (folder) => ({ path: `${folder}/`, folded: fold(folder) })), ...files]
  withFolders.set(files, all)
  return all
}

/** A listing is used for every typed letter while it is cached, so its folders are collected once. */
const withFolders = new WeakMap<Files, Files>()

/** Returns the directories that a chat works in and that may be read. */
function directoriesOf(core: Core, session: Channel<'session'>, chat: Channel<'chat'>): readonly string[] {
  const { workingDirectories: own } = chat.committedState
  const { workingDirectories: all = [] } = session.committedState
  return (own ?? all).flatMap((uri) => {
    try {
      return [containedPath(core, uri, 'read').path]
    } catch {
      return []
    }
  })
}

/** Returns the choice for a path; undefined if the path cannot be written as a URI, or contains a control character. */
function pathChoice(directory: string, path: string, several: boolean): Choice | undefined {
  const isFolder = path.endsWith('/')
  const uri = uriOf(childOf(directory, isFolder ? path.slice(0, -1) : path))
  if (uri === undefined) return undefined
  const label = several ? `${directory.slice(directory.lastIndexOf('/') + 1)}/${path}` : path
  const displayKind = isFolder ? 'directory' : 'document'
  return { insertText: `@${label}`, attachment: { type: 'resource', uri, label, displayKind } }
}

function uriOf(path: string): Uri | undefined {
  if (/[\p{Cc}\p{Surrogate}]/u.test(path)) return undefined
  const uri = fileUri(path)
  return pathOf(uri).ok ? uri : undefined
}
