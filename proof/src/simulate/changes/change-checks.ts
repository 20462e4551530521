import type { Uri } from '@atrium/protocol/channel'
import type { ChangesetFile, ChangesetState } from '@atrium/protocol/changeset/state'
import type { SimulatedChanges } from './changes.ts'
import { directory } from './folder.ts'
import type { Texts } from './folder.ts'
import { captureRecord, captureRecords, isResume, owedCaptures } from './turn-records.ts'
import type { CaptureRecord, KeyedRecord } from './turn-records.ts'
import { count } from '../tally.ts'
import type { RunContext } from '../checks/context.ts'

/** What the checks of changes read. */
interface Context extends RunContext {
  readonly clients: readonly { readonly subscriptions?: ReadonlyMap<Uri, unknown> }[]
}

/** Checks at rest what the host says about changes, against what the judge has seen in the folder. */
export function checkChanges(context: Context, changes: SimulatedChanges): void {
  const [owed] = owedCaptures(context.disk)
  if (owed) context.fail('O32', `the end capture of ${owed.turnId} in ${owed.chat} was never taken`)
  for (const each of captureRecords(context.disk))
    if (each.chat.startsWith('ahp-chat:')) checkRecord(context, changes, each)
  for (const [uri] of context.invariants.chats()) checkFork(context, uri)
  for (const [uri, { kind }] of context.model.channels) {
    const isFollowed = context.clients.some(({ subscriptions }) => subscriptions?.has(uri))
    if (kind.name === 'changeset' && context.model.live(uri) && isFollowed)
      checkChangeset(context, changes, uri, context.model.stateAt(uri, Infinity) as ChangesetState)
  }
  checkAnnotations(context, changes)
  for (const mark of changes.marks) checkMark(context, mark)
}

/** H30: an acknowledged action on annotations is in the log of every session that still exists, whatever has crashed. */
export function checkAnnotations({ model, fail }: RunContext, { acknowledged }: SimulatedChanges): void {
  for (const { channel, seq, text } of acknowledged)
    if (model.live(channel) && model.entry(channel, seq)?.text !== text)
      fail('H30', `an annotation of ${channel} that was acknowledged as ${seq} is lost`)
}

/** The record of a turn: it exists only as long as its turn, has an end capture, and says whether that came late. */
function checkRecord(
  context: Context,
  changes: SimulatedChanges,
  { chat, turnId, record }: KeyedRecord,
): void {
  const { model, fail } = context
  const said = `the record of ${turnId} in ${chat}`
  const state = model.live(chat) && model.chat(chat)
  if (!state) return fail('O34', `${said} is left, but not its chat`)
  const isActive = state.activeTurn?.id === turnId
  if (!isActive && !state.turns.some(({ id }) => id === turnId))
    return fail('O34', `${said} is left, but the turn was truncated`)
  for (const { start, end, last, safety, problem } of record.folders) {
    if (!isActive && end === undefined && problem === undefined) fail('O32', `${said} has no end capture`)
    const missing = [start, end, last, safety].find((id) => id !== undefined && !changes.folder.has(id))
    if (missing !== undefined) fail('O34', `${said} names a capture that was deleted`)
  }
  if (record.late) count('late end captures')
  const isSure = !changes.interrupted.has(turnId) && state.origin?.kind !== 'fork'
  if (isActive || record.order === undefined || !isSure) return
  const late = changes.isLate({ chat, turnId })
  if (late !== undefined && (record.late === true) !== late)
    fail('O32', `${said} says that its end capture ${record.late ? 'came late' : 'came in time'}`)
}

/** O34: a fork has the captures of the turns that it began with. */
function checkFork({ model, disk, fail }: Context, uri: Uri): void {
  const { origin, turns = [] } = model.chat(uri) ?? {}
  const source = origin?.kind === 'fork' && model.live(origin.chat) ? origin.chat : undefined
  if (source === undefined) return
  const isResumed = (chat: Uri, turnId: string) =>
    model.channels.get(chat)?.entries.some(({ action }) => isResume(action, turnId))
  for (const { id: turnId } of turns) {
    const original = captureRecord(disk, { chat: source, turnId })
    if (!original || isResumed(source, turnId) || isResumed(uri, turnId)) continue
    count('forks with captures')
    const copy = captureRecord(disk, { chat: uri, turnId })
    const ends = (record: CaptureRecord | undefined) =>
      JSON.stringify(record?.folders.map(({ start, end }) => [start, end]))
    if (ends(copy) !== ends(original)) fail('O34', `${uri} has not the captures of ${turnId} in ${source}`)
  }
}

/** O35: a changeset shows exactly what differs between its two captures. */
function checkChangeset(
  { disk, fail }: Context,
  changes: SimulatedChanges,
  uri: Uri,
  { status, files, error }: ChangesetState,
): void {
  const [chat = '', name = ''] = uri.split('/changeset/')
  const [kind, ...ids] = name.split('/').map(decodeURIComponent)
  const [first, second] = ids.map((turnId) => captureRecord(disk, { chat, turnId })?.folders[0])
  const from = kind === 'turn' ? first?.start : first?.end
  const to = kind === 'turn' ? first?.end : second?.end
  const [before, after] = [changes.folder.captured(from ?? ''), changes.folder.captured(to ?? '')]
  if (!before || !after) return
  // Time passes while the folder does not answer. The host then says so until the next change.
  if (error?.message.includes('could not be recorded within')) return count('changesets that took too long')
  if (status !== 'ready') return fail('O35', `${uri} is ${status} at rest: ${error?.message ?? ''}`)
  count('changesets compared')
  const shown = files.flatMap((file) => sidesOf(file, changes)).toSorted()
  const expected = differences(before, after).toSorted()
  if (shown.join('\n') !== expected.join('\n'))
    fail('O35', `${uri} shows ${JSON.stringify(shown)}, but the files differ by ${JSON.stringify(expected)}`)
}

/** Both sides of the files that differ, as texts. A renamed file is a deleted and an added one. */
function differences(before: Texts, after: Texts): readonly string[] {
  const side = (name: string, texts: Texts, others: Texts) =>
    [...texts].flatMap(([path, text]) => (others.get(path) === text ? [] : [`${name} ${path} ${text}`]))
  return [...side('before', before, after), ...side('after', after, before)]
}

function sidesOf({ edit }: ChangesetFile, { folder }: SimulatedChanges): readonly string[] {
  return (['before', 'after'] as const).flatMap((name) => {
    const { uri, content } = edit[name] ?? {}
    if (uri === undefined) return []
    const [, stored = ''] = /^ahp-content:\/captured\/([^/]+)/.exec(content?.uri ?? '') ?? []
    return [`${name} ${uri.replace(`file://${directory}/`, '')} ${folder.content(stored)}`]
  })
}

/** O49: a hunk whose mark was confirmed is still marked, if its file still has this hunk. */
function checkMark(
  { model, fail, clients }: Context,
  { channel, file, hash }: SimulatedChanges['marks'][number],
): void {
  const isFollowed = clients.some(({ subscriptions }) => subscriptions?.has(channel))
  const state = isFollowed && model.live(channel) && (model.stateAt(channel, Infinity) as ChangesetState)
  const shown = state ? state.files.find(({ id }) => id === file) : undefined
  if (!shown) return
  const about = (shown._meta?.['x-atrium'] ?? {}) as {
    readonly hunks?: readonly { readonly hash: string; readonly reviewed: boolean }[]
  }
  const hunk = about.hunks?.find((each) => each.hash === hash)
  if (!about.hunks || hunk?.reviewed === false)
    fail('O49', `the mark of a hunk of ${file} in ${channel} is lost`)
}
