import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import type { History, Line } from '../history.ts'

/** What a line of a history means. */
export type Event = { readonly at: number; readonly link: number } & Meaning

type Meaning =
  | { readonly what: 'sent'; readonly channel: Uri; readonly clientSeq: number; readonly action: Action }
  | { readonly what: 'asked'; readonly method: string; readonly channel: Uri }
  | { readonly what: 'answered'; readonly method: string; readonly channel: Uri; readonly ok: boolean }
  /** `live`: as it happened; else as part of the answer to a return. */
  | { readonly what: 'told'; readonly envelope: Envelope; readonly live: boolean }
  /** From this number on the link hears the channel; with a state where it was handed one. */
  | {
      readonly what: 'follows'
      readonly channel: Uri
      readonly from: number
      readonly snapshot?: Snapshot
    }
  /** `missing`: not of its own will, the host says that there is no such channel. */
  | { readonly what: 'leaves'; readonly channel: Uri; readonly missing: boolean }
  | { readonly what: 'garbled'; readonly text: string }
  | { readonly what: 'shut' }
  | { readonly what: 'gone'; readonly channel: Uri }

/** A client and its events, in order. */
export interface Witness {
  readonly client: string
  readonly events: readonly Event[]
}

export function witness({ client, lines }: History): Witness {
  const asked = new Map<string, Question>()
  return { client, events: lines.flatMap((line) => read(line, asked)) }
}

interface Question {
  readonly method: string
  readonly params: Params
}

interface Params {
  readonly channel?: Uri
  readonly clientSeq?: number
  readonly action?: Action
  readonly lastSeenServerSeq?: number
  readonly subscriptions?: readonly Uri[]
}

interface Frame {
  readonly id?: number
  readonly method?: string
  readonly params?: Params
  readonly result?: Result | null
  readonly error?: object
}

interface Result {
  readonly snapshot?: Snapshot
  readonly snapshots?: readonly Snapshot[]
  readonly actions?: readonly Envelope[]
  readonly missing?: readonly Uri[]
}

function read({ at, link, way, text = '' }: Line, asked: Map<string, Question>): readonly Event[] {
  const event = (meaning: Meaning): Event => ({ at, link, ...meaning })
  if (way === 'open') return []
  if (way === 'shut') return [event({ what: 'shut' })]
  if (way === 'gone') return [event({ what: 'gone', channel: text })]
  const frame = parsed(text)
  if (!frame) return [event({ what: 'garbled', text })]
  const meanings = way === 'out' ? said(frame, link, asked) : heard(frame, link, asked)
  return meanings.map(event)
}

function parsed(text: string): Frame | undefined {
  try {
    return JSON.parse(text) as Frame
  } catch {
    return undefined
  }
}

function said(
  { id, method = '', params = {} }: Frame,
  link: number,
  asked: Map<string, Question>,
): Meaning[] {
  const { channel = rootUri, clientSeq = 0, action } = params
  if (method === 'dispatchAction' && action) return [{ what: 'sent', channel, clientSeq, action }]
  if (method === 'unsubscribe') return [{ what: 'leaves', channel, missing: false }]
  if (id === undefined) return []
  asked.set(`${link} ${id}`, { method, params })
  return [{ what: 'asked', method, channel }]
}

function heard(
  { id, method, params, result, error }: Frame,
  link: number,
  asked: Map<string, Question>,
): Meaning[] {
  if (method === 'action') return [{ what: 'told', envelope: params as unknown as Envelope, live: true }]
  const question = asked.get(`${link} ${id}`)
  if (!question) return []
  const { channel = rootUri, lastSeenServerSeq: from = 0, subscriptions = [] } = question.params
  const answered: Meaning = { what: 'answered', method: question.method, channel, ok: !error }
  const { snapshot, snapshots = [], actions = [], missing = [] } = result ?? {}
  const handed = (snapshot ? [snapshot] : snapshots).map((one): Meaning => ({
    what: 'follows',
    channel: one.resource,
    from: one.fromSeq,
    snapshot: one,
  }))
  const replayed = actions.map((envelope): Meaning => ({ what: 'told', envelope, live: false }))
  const again = result?.actions ? subscriptions : []
  const followed = again.map((uri): Meaning => ({ what: 'follows', channel: uri, from }))
  // A channel that went away while the answer was made may still be in it, in part.
  const left = missing.map((uri): Meaning => ({ what: 'leaves', channel: uri, missing: true }))
  return [answered, ...handed, ...followed, ...left, ...replayed]
}
