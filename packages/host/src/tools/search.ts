import { glob } from '@atrium/protocol/text/glob'
import { fileUri } from '@atrium/protocol/file-uri'
import type { Core } from '../core/core.ts'
import { childOf } from '../core/file-listing.ts'
import { TurnFailed } from '../ports/agent.ts'
import type { SearchResult, SearchMatch, Search } from '../ports/agent.ts'
import { FileError } from '../ports/files.ts'
import type { ContainedPath } from '../ports/files.ts'
import { isSecret } from '../access/protected-files.ts'

/** So many files are read at once. */
const together = 16
/** So many comparisons are made at once: some milliseconds. */
const mostEffort = 100_000

/**
 * The lines that have a text, in the files below a place. It takes time in proportion to what is searched (S-25): a text and no
 * pattern. What is secret, no text, or too large is passed over. `alive` rejects when nobody wants to know any more.
 */
export async function searched(
  core: Core,
  place: ContainedPath,
  { text, glob: pattern, ignoreCase = false }: Search,
  alive: () => Promise<void>,
): Promise<SearchResult> {
  const { world, limits, files, listings } = core
  const wanted = glob(pattern ?? '**')
  if (text === '' || text.includes('\n')) throw new TurnFailed('files', 'a search is for a part of one line')
  if (!wanted) throw new TurnFailed('files', 'this is no pattern of paths')
  if (!files) throw new TurnFailed('files', 'this host has no files')
  const { type } = await files.stat(place, true).catch((error: unknown) => {
    throw error instanceof FileError ? new TurnFailed('files', error.message) : error
  })
  const paths = type === 'file' ? [''] : (await listings.fresh(place.path)).map(({ path }) => path)
  let late = false
  const undo = world.later(limits.searchMs, () => (late = true))
  const chosen: string[] = []
  let effort = 0
  for (const path of paths) {
    if (late) break
    if (type === 'file' || wanted(path)) chosen.push(path)
    // A pattern costs its length for every letter of a path: whoever else wants something has a turn.
    effort += path.length * (pattern?.length ?? 1)
    if (effort < mostEffort) continue
    effort = 0
    await new Promise<void>((resolve) => void world.later(0, resolve))
    await alive()
  }
  const find = finder(text, ignoreCase)
  const lines: SearchMatch[] = []
  let passed = paths.length >= limits.listingFiles
  for (let at = 0; at < chosen.length && !late && lines.length <= limits.searchLines; at += together) {
    await alive()
    const some = chosen.slice(at, at + together)
    const texts = await Promise.all(
      some.map(async (path) => {
        const there = { path: childOf(place.path, path), roots: place.roots }
        // What was asked for by its own name was looked at before.
        if (path !== '' && isSecret(fileUri(there.path))) return undefined
        return textAt(core, there)
      }),
    )
    for (const [i, path] of some.entries()) {
      const whole = texts[i]
      passed ||= whole === 'too large'
      if (typeof whole === 'object') lines.push(...found(whole.text, path, find, limits.searchLines + 1))
    }
  }
  undo()
  const told = lines.slice(0, limits.searchLines).map((line) => cut(line, limits.searchLineLength))
  return { lines: told, more: passed || late || lines.length > told.length }
}

type Text = { readonly text: string } | 'too large' | undefined

/** Nothing where it is no text, or cannot be read: the others can. */
async function textAt(core: Core, place: ContainedPath): Promise<Text> {
  try {
    const facts = await core.files?.stat(place, true)
    // By another name it may be secret all the same.
    if (!facts || isSecret(fileUri(facts.path))) return undefined
    if (facts.size > core.limits.searchBytes) return 'too large'
    const bytes = await core.files?.read(place, core.limits.searchBytes)
    if (!bytes || bytes.subarray(0, 8192).includes(0)) return undefined
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    if (error instanceof FileError || error instanceof TypeError) return undefined
    throw error
  }
}

type Find = (text: string) => boolean

function finder(text: string, ignoreCase: boolean): Find {
  if (!ignoreCase) return (line) => line.includes(text)
  const folded = text.toLowerCase()
  return (line) => line.toLowerCase().includes(folded)
}

function found(text: string, path: string, find: Find, most: number): readonly SearchMatch[] {
  // Most files have it nowhere.
  if (!find(text)) return []
  const lines: SearchMatch[] = []
  for (const [i, line] of text.split(/\r?\n/).entries())
    if (lines.length < most && find(line)) lines.push({ path, line: i + 1, text: line })
  return lines
}

function cut(line: SearchMatch, most: number): SearchMatch {
  return line.text.length > most ? { ...line, text: line.text.slice(0, most) } : line
}
