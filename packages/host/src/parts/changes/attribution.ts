import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { CapturedChange } from '../../ports/captures.ts'
import type { TurnFolder, UncertainPaths } from './turn-record.ts'

/**
 * A part of a turn, between two captures of a folder. The host takes a capture when a call of the turn begins, and
 * before it ends. So during a period, a call of the turn runs either all the time or not at all. If a capture fails,
 * two such periods become one.
 */
export interface Period {
  /** The calls of the turn that ran. Empty unless calls are known to have run during the whole period. */
  readonly calls: readonly PeriodCall[]
  /** Whether another turn, a worker, an operation or a terminal was active in the folder. */
  readonly others: boolean
  readonly changes: readonly CapturedChange[]
}

export interface PeriodCall {
  /** The call, as a text for users. */
  readonly label: string
  /** The paths in the folder that the call changes, if it changes no others. Undefined: nobody knows what it changes. */
  readonly writes: ReadonlySet<string> | undefined
}

/** What an attribution says of a folder: whose the changes of the turn are. */
export type Attributed = Pick<TurnFolder, 'shared' | 'uncertain'>

/**
 * Adds the changes of a period to those of the periods before it.
 * - A path is shared if none of the turn's calls ran, if others were active in the folder, or if all calls that ran are
 *   known to change other paths only.
 * - A path is uncertain if a call ran of which nobody knows what it changes: a person may have changed the path meanwhile.
 *
 * If more than `most` paths are shared, or uncertain, all paths of the folder count as shared, or uncertain.
 */
export function attributed(before: Attributed, { calls, others, changes }: Period, most: number): Attributed {
  const { shared, uncertain } = before
  if (changes.length === 0) return before
  const paths = changes.flatMap(pathsOf)
  if (calls.length === 0 || others) return { ...before, shared: joined(shared, paths, most) }
  const unknown = calls.filter(({ writes }) => writes === undefined)
  if (unknown.length === 0) {
    const foreign = paths.filter((path) => !calls.some(({ writes }) => writes?.has(path)))
    return foreign.length === 0 ? before : { ...before, shared: joined(shared, foreign, most) }
  }
  return uncertain === undefined
    ? before
    : { ...before, uncertain: withUncertain(uncertain, labelsOf(unknown), { paths, most }) }
}

/** The paths that a change concerns: two if the file was renamed. */
export function pathsOf({ path, oldPath }: CapturedChange): readonly string[] {
  return oldPath === undefined ? [path] : [oldPath, path]
}

/**
 * Says during which calls of the turn a path was changed, perhaps by a person. Undefined if no such call ran, or if the
 * turn is known to have changed the path.
 */
export function uncertainty({ uncertain }: Attributed, change: CapturedChange): string | undefined {
  if (uncertain === undefined) return 'a call'
  const paths = pathsOf(change)
  return uncertain.find((each) => each.paths === true || paths.some((path) => isNamed(each, path)))?.during
}

function isNamed({ paths }: UncertainPaths, path: string): boolean {
  return paths === true || paths.includes(path)
}

function joined(
  before: TurnFolder['shared'],
  paths: readonly string[],
  most: number,
): NonNullable<TurnFolder['shared']> {
  if (before === true) return true
  const all = new Set([...(before ?? []), ...paths])
  return all.size > most ? true : [...all].toSorted()
}

function withUncertain(
  before: readonly UncertainPaths[],
  during: string,
  { paths, most }: { readonly paths: readonly string[]; readonly most: number },
): readonly UncertainPaths[] {
  const fresh = [...new Set(paths)].filter((path) => !before.some((each) => isNamed(each, path))).toSorted()
  if (fresh.length === 0) return before
  const named = before.reduce((sum, each) => sum + (each.paths === true ? 0 : each.paths.length), 0)
  const same = before.find((each) => each.during === during)
  if (named + fresh.length > most) return [...before.filter((each) => each !== same), { during, paths: true }]
  const own = same && same.paths !== true ? same.paths : []
  return [...before.filter((each) => each !== same), { during, paths: [...own, ...fresh].toSorted() }]
}

function labelsOf(calls: readonly PeriodCall[]): string {
  const labels = [...new Set(calls.map(({ label }) => label))]
  const [first = 'a call'] = labels
  return labels.length > 1 ? `${first} and ${labels.length - 1} more` : first
}

/**
 * Names a call in a sentence for users: its command line, or else its display name. A long command line is cut, because
 * the record of the turn keeps the label.
 */
export function labelOf(call: Extract<ToolCallState, { readonly status: 'running' }>): string {
  const input = typeof call.toolInput === 'string' ? call.toolInput.replaceAll(/\s+/g, ' ').trim() : ''
  // The input of a tool that has several fields is JSON. Nobody wants to read it in a sentence.
  if (input === '' || input.startsWith('{')) return call.displayName.slice(0, longestLabel) || 'a call'
  const cut =
    input.length > longestLabel ? `${input.slice(0, longestLabel).replace(/[\ud800-\udbff]$/, '')}…` : input
  return `\`${cut}\``
}

/** In characters. */
const longestLabel = 80
