import type { Action, Uri } from '@atrium/protocol/channel'
import type { Disk } from '../disk.ts'

/** The record of a turn's captures, as the host stores it. The judge reads it with code of its own. */
export interface CaptureRecord {
  readonly late?: true
  readonly order?: number
  readonly folders: readonly {
    readonly directory: string
    readonly start?: string
    readonly end?: string
    readonly last?: string
    readonly safety?: string
    readonly problem?: string
    readonly shared?: readonly string[] | true
  }[]
}

/** A record with the chat and the turn in its key. */
export interface KeyedRecord {
  readonly chat: Uri
  readonly turnId: string
  readonly record: CaptureRecord
}

/** The stored records of turns: those of the first `upTo` transactions. */
export function captureRecords(disk: Disk, upTo = disk.transactions.length): readonly KeyedRecord[] {
  return keysFrom(disk, 'capture/', upTo).map(([key, text]) => ({
    ...parse(key),
    // A checksum of eight digits and a space stand before the record, which only the host writes.
    record: JSON.parse(text.slice(9)) as CaptureRecord,
  }))
}

export function captureRecord(
  disk: Disk,
  turn: { readonly chat: Uri; readonly turnId: string },
  upTo?: number,
): CaptureRecord | undefined {
  const all = captureRecords(disk, upTo)
  return all.find(({ chat, turnId }) => chat === turn.chat && turnId === turn.turnId)?.record
}

/** The turns whose end captures are missing. */
export function owedCaptures(
  disk: Disk,
  upTo = disk.transactions.length,
): readonly { readonly chat: Uri; readonly turnId: string }[] {
  return keysFrom(disk, 'capture-owed/', upTo).map(([key]) => parse(key))
}

function keysFrom(disk: Disk, prefix: string, upTo: number): readonly (readonly [string, string])[] {
  const found = new Map<string, string>()
  for (const { records } of disk.transactions.slice(0, upTo))
    for (const [key, text] of records) {
      if (!key.startsWith(prefix)) continue
      if (text === undefined) found.delete(key.slice(prefix.length))
      else found.set(key.slice(prefix.length), text)
    }
  return [...found]
}

function parse(key: string): { readonly chat: Uri; readonly turnId: string } {
  const [chat = '', turnId = ''] = key.split('/').map(decodeURIComponent)
  return { chat, turnId }
}

/** Whether an action resumes a turn. */
export function isResume(action: Action, turnId: string): boolean {
  return action.type === 'chat/turnResume' && (action as { readonly turnId?: string }).turnId === turnId
}
