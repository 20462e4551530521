import { catalogOf } from '../catalog/catalog.ts'
import type { ActiveTurn, ErrorPart, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { Core } from '../kernel/core.ts'
import type { Channel } from '../kernel/log/channel.ts'
import type { Row } from '../kernel/log/channel-rows.ts'
import { lengthOf } from '../kernel/log/rows.ts'
import { keepBytes } from './content/content.ts'
import { keepContent, keepText } from './content/large-output.ts'
import type { Keep } from './content/large-output.ts'
import { stateLength } from './state-length.ts'

// Turns that are too large for one message. Earlier builds did not limit the length of a turn, so the store may have some.
// Clients get such a turn in a shown form, with references in place of its long texts. The stored turn stays as it is.

/** Whether a chat has a turn in memory that is too large, and that has no shown form yet. */
export function needsShownForms(core: Core, channel: Channel): boolean {
  if (!channel.is('chat') || channel.committed === undefined) return false
  const { activeTurn, turns } = channel.committed
  const isShown = activeTurn && shownForms.has(activeTurn) && core.readOnlyReason() !== undefined
  return (!isShown && hasOversizedActiveTurn(core, channel)) || oversizedTurns(core, turns).length > 0
}

/**
 * Makes the shown form of each turn in memory that is too large. An active turn that is too large is ended first. A read-only
 * host cannot end it, so the active turn itself gets a shown form.
 */
export async function makeShownForms(core: Core, channel: Channel): Promise<void> {
  if (!channel.is('chat')) return
  if (hasOversizedActiveTurn(core, channel)) {
    const { activeTurn } = channel.committed ?? {}
    if (core.readOnlyReason() === undefined) {
      endActiveTurn(core, channel)
      await core.log.reached(core.log.last)
    } else if (activeTurn) await makeShown(core, channel, [activeTurn])
  }
  await makeShown(core, channel, channel.committed?.turns ?? [])
}

/** Makes the shown form of each of these turns that is too large. */
export async function makeShown(
  core: Core,
  chat: Channel,
  turns: readonly (Turn | ActiveTurn)[],
): Promise<void> {
  for (const turn of oversizedTurns(core, turns)) {
    core.world.report('large turn', `${chat.uri} has a turn of ${lengthOf(turn)} characters`)
    const readOnly = core.readOnlyReason() !== undefined
    shownForms.set(turn, await shownForm(core, chat, turn))
    formsMade++
    if (readOnly) unreadable.add(turn)
    else unreadable.delete(turn)
  }
}

export function oversizedTurns<T extends Turn | ActiveTurn>(
  { limits, readOnlyReason }: Core,
  turns: readonly T[],
): readonly T[] {
  const max = maxTurn(limits)
  return turns.filter(
    (turn) =>
      lengthOf(turn) > max &&
      (!shownForms.has(turn) || (unreadable.has(turn) && readOnlyReason() === undefined)),
  )
}

/** Returns a finished turn (a row of its chat) in the form in which clients get it. */
export function shown<R extends Row>(row: R): R {
  // A shown form has the type of its turn, and only turns have one.
  return (shownForms.get(row) as R | undefined) ?? row
}

/** Returns a state with its active turn in the form in which clients get it. */
export function withShownActiveTurn(state: object): object {
  // Only a chat has an active turn, and any other value has no shown form.
  const { activeTurn } = state as { readonly activeTurn?: ActiveTurn }
  const form = activeTurn && shownForms.get(activeTurn)
  return form ? { ...state, activeTurn: form } : state
}

/**
 * Returns finished turns (the rows of a chat) in the form in which clients get them. A list without large turns is
 * returned as it is.
 */
export function shownRows<R extends Row>(rows: readonly R[]): readonly R[] {
  return rows.some((row) => shownForms.has(row)) ? rows.map(shown) : rows
}

const shownForms = new WeakMap<Row, Turn | ActiveTurn>()
let formsMade = 0

/**
 * The number of shown forms that were made so far. A snapshot that was made before the last of these forms may be out of date.
 */
export function shownFormsMade(): number {
  return formsMade
}

/** The turns whose shown form was made while the host could not store texts. They get another form when it can. */
const unreadable = new WeakSet<Row>()

/**
 * The maximum length of a turn, in characters of JSON. The end of a turn adds an error to its length, so a finished
 * turn may be a little longer than an active one.
 */
const maxTurn = ({ stateLength: max }: Core['limits']) => max + 64 * 1024

/**
 * Whether the active turn of a chat is too large. Only a turn of an earlier run of the host can be: the length of a
 * turn that runs now is limited (Q10).
 */
function hasOversizedActiveTurn(core: Core, chat: Channel<'chat'>): boolean {
  const { activeTurn } = chat.head
  if (!activeTurn || stateLength(core, chat) <= maxTurn(core.limits) || core.jobs.has(chat.uri)) return false
  return JSON.stringify(activeTurn).length > maxTurn(core.limits)
}

function endActiveTurn(core: Core, chat: Channel<'chat'>): void {
  const { activeTurn } = chat.head
  if (!activeTurn) return
  const message = 'This turn has more output than a turn can have. Go on in a new turn.'
  const part: ErrorPart = { kind: 'error', error: { errorType: 'full', message } }
  const duration = Math.max(0, core.world.now() - Date.parse(activeTurn.startedAt)) || 0
  core.log.append(chat, { type: 'chat/error', turnId: activeTurn.id, duration, part })
}

async function shownForm<T extends Turn | ActiveTurn>(core: Core, chat: Channel, turn: T): Promise<T> {
  const keep = keepFor(core, chat)
  const max = maxTurn(core.limits)
  const note = (content: string): ResponsePart => ({ kind: 'systemNotification', content })
  const parts: ResponsePart[] = []
  for (const part of turn.responseParts) parts.push(await shownPart(part, keep))
  const short = {
    ...turn,
    responseParts: [note(`${tooLarge} Its long texts are shown as references.`), ...parts],
  }
  if (lengthOf(short) <= max) return short
  return {
    ...turn,
    responseParts: [note(`${tooLarge} Only its last parts are shown.`), ...newest(parts, max / 2)],
  }
}

const tooLarge = 'This turn is too large for one message.'

async function shownPart(part: ResponsePart, keep: Keep): Promise<ResponsePart> {
  if (part.kind === 'markdown' || part.kind === 'reasoning')
    return part.content.length <= minLength
      ? part
      : { kind: 'contentRef', ...(await keepText(part.content, keep, 'text/markdown')) }
  if (part.kind !== 'toolCall') return part
  const { toolCall } = part
  const input = 'toolInput' in toolCall ? toolCall.toolInput : undefined
  const content = 'content' in toolCall ? toolCall.content : undefined
  const kept = content && (await Promise.all(content.map((each) => keepContent(each, minLength, keep))))
  const toolInput =
    typeof input === 'string' && input.length > minLength ? await keepText(input, keep) : input
  return {
    ...part,
    toolCall: {
      ...toolCall,
      ...(kept && { content: kept }),
      ...(toolInput !== undefined && { toolInput }),
    } as typeof toolCall,
  }
}

function newest(parts: readonly ResponsePart[], max: number): readonly ResponsePart[] {
  let length = 0
  const from = parts.findLastIndex((part) => (length += lengthOf(part)) > max)
  return parts.slice(from + 1)
}

/** Stores long texts of a chat in the content of its session. A host that may not write makes references that cannot be read. */
function keepFor(core: Core, chat: Channel): Keep {
  const session = catalogOf(core).sessionOf(chat.uri) ?? chat.uri
  if (core.readOnlyReason() === undefined) return (bytes, type) => keepBytes(core, session, bytes, type)
  return (bytes, contentType) =>
    Promise.resolve({ uri: 'ahp-content:/unavailable', sizeHint: bytes.length, contentType })
}

/** Texts up to this number of characters stay in the shown form. */
const minLength = 1024
