import { catalogOf } from '../catalog/catalog.ts'
import { sessionChangesetUri } from '@atrium/protocol/changeset/catalogue'
import type { ChangesetState } from '@atrium/protocol/changeset/state'
import { primaryChat } from '@atrium/protocol/session/primary-chat'
import type { SessionSummary } from '@atrium/protocol/session/state'
import type { Lens } from '@atrium/protocol/versions/lens'
import type { Channel } from '../kernel/log/channel.ts'
import { rowsIn } from '../kernel/log/channel-rows.ts'
import type { Row } from '../kernel/log/channel-rows.ts'
import type { Core } from '../kernel/core.ts'
import type { View } from '../kernel/link.ts'
import { annotationsSummary } from './annotations-channel.ts'
import { cursorBefore } from './cursor.ts'
import { committedEntryOf, derived } from './derived.ts'
import { lengthOf } from '../kernel/log/rows.ts'
import { shownFormsMade, shownRows, withShownActiveTurn } from './oversized.ts'

/** The form of a snapshot, which depends on the protocol version of the client. */
export interface SnapshotForm {
  readonly lens?: Lens | undefined
  /**
   * Whether the version has no chats. The snapshot of a session then contains the chat that represents the session
   * (its primary chat).
   */
  readonly merged?: boolean
  /** Whether the snapshot of a session contains the files of its changeset. */
  readonly withDiffs?: boolean
  /** Whether the version has no cursor to older turns. */
  readonly unpaged?: boolean
  /** The client that gets the snapshot, if the snapshot depends on the client. */
  readonly viewer?: string | undefined
}

/** The form of a snapshot, and the client's name for the channel as JSON. */
interface SnapshotDialect extends SnapshotForm {
  readonly label?: string | undefined
}

/** Returns a snapshot as JSON: the committed state, completed by `derived`, at the committed sequence number. */
export function snapshotText(
  core: Core,
  channel: Channel,
  view: View = {},
  { label = channel.label, ...form }: SnapshotDialect = {},
): string {
  const { text } = cachedState(core, channel, view, form)
  return `{"resource":${label},"state":${text},"fromSeq":${core.log.committedSeq}}`
}

/** Returns the number of a chat's finished turns (its rows) that are too old for the channel's snapshot. */
export function turnsLeftOut(core: Core, channel: Channel, view: View, form: SnapshotForm): number {
  return cachedState(core, channel, view, form).leftOut
}

/**
 * Returns whether a snapshot has room for finished turns of a chat (its rows) that are not in memory. Without these
 * turns the snapshot is still correct: it has a cursor to them.
 */
export function needsRows(core: Core, channel: Channel, { turns = Infinity }: View = {}): boolean {
  if (channel.committedOlder === 0) return false
  const rows = channel.rows(channel.committed)
  const length = rows.reduce((sum, row) => sum + lengthOf(row), 0)
  return rows.length < turns && length < core.limits.turnsLength
}

/** The state in a snapshot, as JSON. */
interface SnapshotState {
  readonly text: string
  /** The number of finished turns that are older than those in the text. */
  readonly leftOut: number
}

/**
 * Renders a state as JSON. The state of a chat gets its newest finished turns (rows) and a cursor to the older ones.
 * The number of its turns is limited by `turns` and by the length of a response.
 */
function stateText(core: Core, channel: Channel, turns = Infinity, form: SnapshotForm): SnapshotState {
  const chat = form.merged ? chatOf(core, channel) : undefined
  const state: Readonly<Record<string, unknown>> = { ...stateIn(core, channel, chat, form) }
  const { kind, committedOlder } = chat ?? channel
  const { rows: key } = kind
  if (key === undefined) return { text: JSON.stringify(state), leftOut: 0 }
  const rows = (chat ?? channel).rows(state)
  const texts = newestTexts(rows, turns, core.limits.turnsLength)
  const leftOut = rows.length - texts.length + committedOlder
  const oldest = texts.length === 0 ? undefined : rows[rows.length - texts.length]
  const { [key]: _, ...rest } = state
  const more = leftOut > 0 && !form.unpaged && { turnsNextCursor: cursorBefore(oldest) }
  const others = JSON.stringify({ ...rest, ...more })
  const text = `{${JSON.stringify(key)}:[${texts.join()}]${others === '{}' ? '}' : `,${others.slice(1)}`}`
  return { text, leftOut }
}

/** Returns the whole state of a channel in the form of a protocol version. */
function stateIn(core: Core, channel: Channel, chat: Channel | undefined, form: SnapshotForm): object {
  const whole = wholeState(core, channel)
  const { lens, viewer = '' } = form
  if (!lens) return whole
  const summary = summaryFor(core, channel, form)
  const changeset = changesetFor(core, channel, form)
  return lens.stateDown(channel.kindName, whole, {
    viewer,
    summary,
    changeset,
    chat: chat && wholeState(core, chat),
  })
}

/** Returns the state of the changeset with all changes of a session, if it is in memory and the version shows it in the session. */
function changesetFor(
  { log }: Core,
  channel: Channel,
  { withDiffs }: SnapshotForm,
): ChangesetState | undefined {
  if (!withDiffs || !channel.is('session')) return undefined
  return log.channel(sessionChangesetUri(channel.uri), 'changeset')?.committed
}

/**
 * Returns the session list's entry of a session, or of the session of a chat. Undefined if the states of the protocol
 * version do not contain this entry.
 */
function summaryFor(core: Core, { uri }: Channel, { viewer }: SnapshotForm): SessionSummary | undefined {
  return viewer === undefined
    ? undefined
    : (catalogOf(core).get(uri) ?? catalogOf(core).get(catalogOf(core).sessionOf(uri) ?? ''))
}

function wholeState(core: Core, channel: Channel): object {
  return withShownTurns(channel, derived(core, channel))
}

/**
 * Returns the chat that represents a session in versions without chats (its primary chat). The chat is in memory
 * while a client of such a version is subscribed to the session.
 */
function chatOf(core: Core, channel: Channel): Channel<'chat'> | undefined {
  if (!channel.is('session')) return undefined
  return core.log.channel(primaryChat(channel.committedState) ?? '', 'chat')
}

/** Replaces the turns in a state that are too large for one message by their shorter forms. */
function withShownTurns({ kind }: Channel, whole: object): object {
  const { rows: key } = kind
  if (key === undefined) return whole
  const state = withShownActiveTurn(whole)
  const rows = rowsIn(key, state)
  const forms = shownRows(rows)
  return forms === rows ? state : { ...state, [key]: forms }
}

function newestTexts(rows: readonly Row[], max: number, maxLength: number): readonly string[] {
  const texts: string[] = []
  let length = 0
  for (let at = rows.length - 1; at >= 0 && texts.length < max; at--) {
    const text = JSON.stringify(rows[at])
    length += text.length
    if (length > maxLength && texts.length > 0) break
    texts.push(text)
  }
  return texts.toReversed()
}

/** Renders a state once for each view and version, because many clients may reconnect at once and ask for the same text (F-21). */
function cachedState(core: Core, channel: Channel, wanted: View, form: SnapshotForm): SnapshotState {
  const chat = form.merged ? chatOf(core, channel) : undefined
  // If an uncommitted action names an older turn, a client without this turn could not apply the action. So the
  // snapshot then has as many turns as fit, whatever the client wanted.
  const view = (chat ?? channel).lastRowNeeded > core.log.committedSeq ? {} : wanted
  const source: Source = {
    committed: channel.committed,
    entry: committedEntryOf(core, channel),
    annotations: annotationsSummary(core, channel),
    forms: shownFormsMade(),
  }
  const last = cache.get(channel)
  const fresh = last && sameSource(last.source, source)
  const states = fresh ? last.states : new Map<string, CachedState>()
  if (!fresh || states.size >= maxCachedViews) states.clear()
  if (!fresh) cache.set(channel, { source, states })
  const key = JSON.stringify([view.turns, form.lens?.version, channel.is('session') && form.viewer])
  const known = states.get(key)
  const parts: OtherParts = {
    chat: chat?.committed,
    summary: summaryFor(core, channel, form),
    changeset: changesetFor(core, channel, form),
  }
  if (known && sameParts(known, parts)) return known
  const state = { ...stateText(core, channel, view.turns, form), ...parts }
  states.set(key, state)
  return state
}

/** The maximum number of cached views of a channel. Clients choose their views, so the number must be bounded. */
const maxCachedViews = 24

/**
 * The values from which a state is rendered: the state, the entry of a chat in its session, the counts of a session's
 * annotations, and the number of shortened turns. If one of them changes, the cached texts are outdated.
 */
interface Source {
  readonly committed: unknown
  readonly entry: unknown
  readonly annotations: unknown
  readonly forms: number
}

/**
 * The values in a rendered state that only some versions show: the states of the primary chat and of the changeset,
 * and the session's entry in the session list.
 */
interface OtherParts {
  readonly chat: unknown
  readonly summary: unknown
  readonly changeset: unknown
}

interface CachedState extends SnapshotState, OtherParts {}

function sameParts(a: OtherParts, b: OtherParts): boolean {
  return a.chat === b.chat && a.summary === b.summary && a.changeset === b.changeset
}

/** The rendered states of a channel. */
interface CachedStates {
  readonly source: Source
  readonly states: Map<string, CachedState>
}

function sameSource(a: Source, b: Source): boolean {
  return (
    a.committed === b.committed &&
    a.entry === b.entry &&
    a.annotations === b.annotations &&
    a.forms === b.forms
  )
}

const cache = new WeakMap<Channel, CachedStates>()
