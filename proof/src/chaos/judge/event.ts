import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import { snapshotsIn } from '../../message.ts'
import type { Shown } from '../../message.ts'
import type { History, Line } from '../history.ts'

/** The meaning of one line of a history. */
export type Event = { readonly at: number; readonly link: number } & EventData

type EventData =
  | { readonly what: 'sent'; readonly channel: Uri; readonly clientSeq: number; readonly action: Action }
  | { readonly what: 'requested'; readonly method: string; readonly channel: Uri }
  | { readonly what: 'answered'; readonly method: string; readonly channel: Uri; readonly ok: boolean }
  /** `live`: the envelope came as a notification; otherwise it came in the answer to `reconnect`. */
  | { readonly what: 'delivered'; readonly envelope: Envelope; readonly live: boolean }
  /**
   * From the sequence number `from` on, the link receives the actions of the channel. `snapshot` is absent if the host
   * sent none.
   */
  | {
      readonly what: 'subscribed'
      readonly channel: Uri
      readonly from: number
      readonly snapshot?: Snapshot
    }
  /** `missing`: the host says that the channel does not exist; otherwise the client unsubscribed. */
  | { readonly what: 'unsubscribed'; readonly channel: Uri; readonly missing: boolean }
  | { readonly what: 'unreadable'; readonly text: string }
  | { readonly what: 'closed' }
  | { readonly what: 'gone'; readonly channel: Uri }

/** A client and its events, in order. */
export interface ClientEvents {
  readonly client: string
  readonly events: readonly Event[]
}

export function eventsOf({ client, lines }: History): ClientEvents {
  const requests = new Map<string, SentRequest>()
  return { client, events: lines.flatMap((line) => read(line, requests)) }
}

interface SentRequest {
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
  readonly result?: Shown | null
  readonly error?: object
}

function read({ at, link, way, text = '' }: Line, requests: Map<string, SentRequest>): readonly Event[] {
  const event = (data: EventData): Event => ({ at, link, ...data })
  if (way === 'open') return []
  if (way === 'shut') return [event({ what: 'closed' })]
  if (way === 'gone') return [event({ what: 'gone', channel: text })]
  const frame = parsed(text)
  if (!frame) return [event({ what: 'unreadable', text })]
  const data = way === 'out' ? outgoing(frame, link, requests) : incoming(frame, link, requests)
  return data.map(event)
}

function parsed(text: string): Frame | undefined {
  try {
    return JSON.parse(text) as Frame
  } catch {
    return undefined
  }
}

function outgoing(
  { id, method = '', params = {} }: Frame,
  link: number,
  requests: Map<string, SentRequest>,
): EventData[] {
  const { channel = rootUri, clientSeq = 0, action } = params
  if (method === 'dispatchAction' && action) return [{ what: 'sent', channel, clientSeq, action }]
  if (method === 'unsubscribe') return [{ what: 'unsubscribed', channel, missing: false }]
  if (id === undefined) return []
  requests.set(`${link} ${id}`, { method, params })
  return [{ what: 'requested', method, channel }]
}

function incoming(
  { id, method, params, result, error }: Frame,
  link: number,
  requests: Map<string, SentRequest>,
): EventData[] {
  if (method === 'action') return [{ what: 'delivered', envelope: params as unknown as Envelope, live: true }]
  const request = requests.get(`${link} ${id}`)
  if (!request) return []
  const { channel = rootUri, lastSeenServerSeq: from = 0, subscriptions = [] } = request.params
  const answered: EventData = { what: 'answered', method: request.method, channel, ok: !error }
  const { actions = [], missing = [] } = result ?? {}
  const snapshotEvents = snapshotsIn(result ?? {}).map((one): EventData => ({
    what: 'subscribed',
    channel: one.resource,
    from: one.fromSeq,
    snapshot: one,
  }))
  const replayed = actions.map((envelope): EventData => ({ what: 'delivered', envelope, live: false }))
  const resumed = result?.actions ? subscriptions : []
  const resubscribed = resumed.map((uri): EventData => ({ what: 'subscribed', channel: uri, from }))
  // A channel may be dropped while the host answers a `reconnect`. The answer then names the channel as missing, but
  // the replay may still have some of its envelopes. So the channel counts as unsubscribed before the replay.
  const left = missing.map((uri): EventData => ({ what: 'unsubscribed', channel: uri, missing: true }))
  return [answered, ...snapshotEvents, ...resubscribed, ...left, ...replayed]
}
