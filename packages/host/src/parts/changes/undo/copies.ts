import { CaptureFailed } from '../../../ports/captures.ts'
import type { CapturedEdit, Captures } from '../../../ports/captures.ts'
import type { PlannedFile } from './undo.ts'

/**
 * Writes a copy of each file that edits replace or delete, beside it and under a name that no file has. A renamed file
 * has two edits: somebody may have written another file where it was before. Returns the paths of the copies.
 */
export async function copyOf(
  captures: Captures,
  directory: string,
  edits: readonly CapturedEdit[],
): Promise<readonly string[]> {
  const made: string[] = []
  let left = edits.filter(({ expected }) => expected !== undefined)
  for (let n = 1; n <= mostCopies && left.length > 0; n++) {
    const copies = left.map(({ path, expected }) => ({ path: copyName(path, n), wanted: expected }))
    const { done } = await captures.apply(
      directory,
      copies.flatMap(({ path, wanted }) => (wanted ? [{ path, wanted }] : [])),
    )
    made.push(...done)
    left = left.filter(({ path }) => !done.includes(copyName(path, n)))
  }
  if (left.length > 0) throw new CaptureFailed(`No copy of ${left[0]?.path} could be written. ${unchanged}`)
  return made
}

/** Whether a copy of a file can be written: its content must have been captured. */
export function isCopyable({ edits }: PlannedFile): boolean {
  return edits.every(({ expected }) => expected?.omitted === undefined)
}

export const notCopyable = 'No copy of it can be written, because its content was not recorded.'
const unchanged = 'Remove or rename older copies beside it. No file was set back.'

function copyName(path: string, n: number): string {
  return `${path}.before-undo${n === 1 ? '' : `-${n}`}`
}

const mostCopies = 9
