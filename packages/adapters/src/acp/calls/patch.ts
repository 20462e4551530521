import type { Edit } from '@atrium/host/ports/agent'

/** A change of one file. */
export interface Change {
  readonly path: string
  readonly edit: Edit
}

/**
 * Returns the change that a patch makes. The patch is in the form that models of OpenAI write, with the markers `*** Begin Patch`
 * and `*** Add File: PATH` or `*** Update File: PATH`. Undefined for any other text, and for a patch that changes several
 * files, or several passages of a file.
 */
export function changeIn(patch: string): Change | undefined {
  const [begin, marker = '', ...rest] = patch.trimEnd().split('\n')
  if (begin !== '*** Begin Patch' || rest.pop() !== '*** End Patch') return undefined
  const [, verb, path] = /^\*\*\* (Add|Update) File: (.+)$/.exec(marker) ?? []
  // A line that begins with `@@` starts each passage. Models may leave it out before the first one.
  const lines = rest[0]?.startsWith('@@') ? rest.slice(1) : rest
  const isOnePassage = !lines.some((line) => /^(?:\*\*\*|@@)/.test(line))
  if (path === undefined || !isOnePassage) return undefined
  if (verb === 'Add') return { path, edit: { text: lines.map((line) => `${line.slice(1)}\n`).join('') } }
  return { path, edit: { find: without('+', lines), put: without('-', lines) } }
}

/** Returns the text of a passage without the lines that have this sign. */
function without(sign: string, lines: readonly string[]): string {
  const kept = lines.filter((line) => !line.startsWith(sign))
  return kept.map((line) => line.slice(1)).join('\n')
}
