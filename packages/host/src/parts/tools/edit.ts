import { TurnFailed } from '../../ports/agent.ts'
import type { Edit } from '../../ports/agent.ts'

/** Applies an edit to the content of a file. Throws if the text to replace is not in the file exactly once. */
export function edited(before: string | undefined, edit: Edit): string {
  if ('text' in edit) return edit.text
  const at = before?.indexOf(edit.find) ?? -1
  if (before === undefined || at < 0 || edit.find === '')
    throw new TurnFailed('files', 'the file does not contain that text')
  if (before.indexOf(edit.find, at + 1) >= 0)
    throw new TurnFailed('files', 'the file contains that text more than once')
  return before.slice(0, at) + edit.put + before.slice(at + edit.find.length)
}

/**
 * Applies an edit to the content of a secret file. Returns the present content if the edit is invalid: an error would
 * tell the agent what the file contains. The agent gets the error only after a user has agreed to the edit.
 */
export function editedUnlessInvalid(before: string | undefined, edit: Edit): string {
  try {
    return edited(before, edit)
  } catch {
    return before ?? ''
  }
}

export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new TurnFailed('files', 'the file is not text')
  }
}

export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
