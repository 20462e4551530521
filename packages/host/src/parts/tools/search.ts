import { filesOf } from '../../catalog/machine.ts'
import { listingsOf } from '../listings/part.ts'
import { lineFinder } from '@atrium/protocol/text/expression'
import type { MatchingLine } from '@atrium/protocol/text/expression'
import { glob } from '@atrium/protocol/text/glob'
import { fileUri } from '@atrium/protocol/file-uri'
import type { Core } from '../../kernel/core.ts'
import { childOf } from '../listings/file-listing.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { SearchResult, SearchMatch, Search } from '../../ports/search.ts'
import { FileError } from '../../ports/files.ts'
import type { ContainedPath, FileStat, Files } from '../../ports/files.ts'
import { isSecret } from '../access/protected-files.ts'

/** Number of files that are read concurrently. */
const concurrency = 16
/**
 * The amount of matching after which other work may run, so that the search blocks the host only for some milliseconds. For a
 * glob, it counts characters of the path times characters of the glob. For a regular expression, it counts steps of the automaton.
 */
const matchBudget = 100_000

type Matches = (text: string) => boolean
/** Finds the matching lines of a text. Yields `undefined` after each piece of work. */
type Finder = (text: string) => Iterable<MatchingLine | undefined>

/** A search in progress. `checkAlive` rejects when the result is not wanted any more. */
interface SearchRun {
  readonly core: Core
  readonly files: Files
  readonly place: ContainedPath
  readonly checkAlive: () => Promise<void>
  readonly isLate: () => boolean
}

/**
 * Finds the lines that contain a text or match an expression, in the files below a place. The cost is proportional to the size
 * of the files, times the length of an expression (S-25). Secret, binary and too large files are skipped.
 */
export async function searched(
  core: Core,
  place: ContainedPath,
  search: Search,
  checkAlive: () => Promise<void>,
): Promise<SearchResult> {
  const { world, limits } = core
  const files = filesOf(core)
  const { glob: pattern } = search
  const find = finderOf(search)
  const matchesPath = glob(pattern ?? '**')
  if (!matchesPath) throw new TurnFailed('files', 'the glob is invalid')
  if (!files) throw new TurnFailed('files', 'this host serves no files')
  const { type } = await statOf(files, place)
  const paths = type === 'file' ? [''] : (await listingsOf(core).fresh(place.path)).map(({ path }) => path)
  let late = false
  const cancelTimer = world.later(limits.searchMs, () => (late = true))
  const run = { core, files, place, checkAlive, isLate: () => late }
  const chosen = type === 'file' ? paths : await matching(run, paths, matchesPath, pattern?.length ?? 1)
  const { lines, skipped } = await linesIn(run, chosen, find)
  cancelTimer()
  const shown = lines.slice(0, limits.searchLines).map((line) => cut(line, limits.searchLineLength))
  const more = skipped || late || paths.length >= limits.listingFiles || lines.length > shown.length
  return { lines: shown, more }
}

function statOf(files: Files, place: ContainedPath): Promise<FileStat> {
  return files.stat(place, true).catch((error: unknown) => {
    throw error instanceof FileError ? new TurnFailed('files', error.message) : error
  })
}

async function matching(
  { core: { world }, checkAlive, isLate }: SearchRun,
  paths: readonly string[],
  matchesPath: Matches,
  patternLength: number,
): Promise<readonly string[]> {
  const chosen: string[] = []
  let cost = 0
  for (const path of paths) {
    if (isLate()) break
    if (matchesPath(path)) chosen.push(path)
    cost += path.length * patternLength
    if (cost < matchBudget) continue
    cost = 0
    await othersRun(world)
    await checkAlive()
  }
  return chosen
}

function othersRun(world: Core['world']): Promise<void> {
  return new Promise((resolve) => void world.later(0, resolve))
}

/**
 * Returns the matching lines. If a result cannot hold all of them, at least one line too many is returned, so that the caller
 * notices. `skipped` is true if some file is too large.
 */
async function linesIn(
  run: SearchRun,
  paths: readonly string[],
  find: Finder,
): Promise<{ readonly lines: readonly SearchMatch[]; readonly skipped: boolean }> {
  const { searchLines } = run.core.limits
  const lines: SearchMatch[] = []
  let skipped = false
  for (let at = 0; at < paths.length && !run.isLate() && lines.length <= searchLines; at += concurrency) {
    await run.checkAlive()
    const batch = paths.slice(at, at + concurrency)
    const texts = await Promise.all(batch.map((path) => textAt(run, path)))
    for (const [i, path] of batch.entries()) {
      const found = texts[i]
      skipped ||= found === 'too large'
      if (typeof found !== 'object' || lines.length > searchLines) continue
      for await (const line of matchesIn(run, found.text, find)) {
        lines.push({ path, ...line })
        if (lines.length > searchLines) break
      }
    }
  }
  return { lines, skipped }
}

type Text = { readonly text: string } | 'too large' | undefined

/** The text of a file; undefined if the file is secret, binary or unreadable. The search goes on with the other files. */
async function textAt({ core, files, place }: SearchRun, path: string): Promise<Text> {
  const file = { path: childOf(place.path, path), roots: place.roots }
  // The empty path is the file that the search names: the caller has checked whether it may be read.
  if (path !== '' && isSecret(fileUri(file.path))) return undefined
  try {
    const stat = await files.stat(file, true)
    // The target of a link may be secret although the link's name is not.
    if (isSecret(fileUri(stat.path))) return undefined
    if (stat.size > core.limits.searchBytes) return 'too large'
    const bytes = await files.read(file, core.limits.searchBytes)
    if (bytes.subarray(0, 8192).includes(0)) return undefined
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    // Decoding throws a `TypeError` if the bytes are not UTF-8.
    if (error instanceof FileError || error instanceof TypeError) return undefined
    throw error
  }
}

/**
 * Returns the function that finds the lines of a search. Throws if the search has neither a text nor a pattern, has
 * both, or has an invalid one.
 */
function finderOf({ text, pattern, ignoreCase = false }: Search): Finder {
  if ((text === undefined) === (pattern === undefined))
    throw new TurnFailed('files', 'a search needs either a text or a pattern')
  if (pattern !== undefined) {
    if (pattern === '') throw new TurnFailed('files', 'the pattern is empty')
    const compiled = lineFinder(pattern, ignoreCase)
    if (!compiled.ok) throw new TurnFailed('files', `the pattern is not valid: ${compiled.problem}`)
    return (whole) => compiled.value(whole, matchBudget)
  }
  if (text === undefined || text === '' || text.includes('\n'))
    throw new TurnFailed('files', 'the search text must be part of a single line')
  const folded = ignoreCase ? text.toLowerCase() : text
  return (whole) => linesWith(whole, (part) => (ignoreCase ? part.toLowerCase() : part).includes(folded))
}

function* linesWith(text: string, matches: Matches): Iterable<MatchingLine> {
  // Most files have no match: one test of the whole text saves splitting it.
  if (!matches(text)) return
  let from = 0
  for (const [i, line] of text.split('\n').entries()) {
    const to = from + line.length
    const end = line.endsWith('\r') && to < text.length ? to - 1 : to
    if (matches(text.slice(from, end))) yield { line: i + 1, from, to: end }
    from = to + 1
  }
}

/** Yields the matching lines of a text. Lets others run after each piece of work, and stops when the time is over. */
async function* matchesIn(
  { core, checkAlive, isLate }: SearchRun,
  text: string,
  find: Finder,
): AsyncIterable<Pick<SearchMatch, 'line' | 'text'>> {
  for (const found of find(text)) {
    if (found) yield { line: found.line, text: text.slice(found.from, found.to) }
    else {
      await othersRun(core.world)
      await checkAlive()
      if (isLate()) return
    }
  }
}

function cut(line: SearchMatch, maxLength: number): SearchMatch {
  return line.text.length > maxLength ? { ...line, text: line.text.slice(0, maxLength) } : line
}
