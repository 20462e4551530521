import type { Envelope } from '@atrium/protocol/channel'
import type { Result } from '@atrium/protocol/commands'
import { clientLimits } from '@atrium/protocol/rpc/frame-check'
import { pair } from '@atrium/protocol/rpc/pair'
import { Peer } from '@atrium/protocol/rpc/peer'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { SimulatedNode } from './node.ts'

/** An action that a client has sent. */
export interface Sent {
  readonly channel: string
  readonly clientSeq: number
  /** The number of the echo, if the action was accepted. */
  accepted?: number
}

/** A client that connects to the owner, sends actions, and remembers what was confirmed to it. */
export class ClusterClient {
  readonly clientId: string
  readonly sent: Sent[] = []
  /** The sessions whose creation was confirmed. */
  readonly created = new Set<string>()
  #peer: Peer | undefined
  #clientSeq = 0

  constructor(clientId: string) {
    this.clientId = clientId
  }

  get linked(): boolean {
    return this.#peer !== undefined && !this.#peer.closed.aborted
  }

  connect(node: SimulatedNode): void {
    this.#peer?.close(1000)
    const [near, far] = pair()
    const notification = (method: string, params: unknown) => {
      // The schema of the notification is the host's: the cast is checked by other tests.
      if (method === 'action') this.#received(params as Envelope)
    }
    const peer = new Peer(far, { request: () => null, notification }, { limits: clientLimits })
    this.#peer = peer
    node.node.connect(near, 'owner')
    const hello = { channel: root, protocolVersions: ['1.0.0'], clientId: this.clientId }
    peer.request('initialize', hello).catch(() => {})
    for (const channel of this.created) this.#subscribe(peer, channel)
  }

  create(session: string): void {
    const peer = this.#peer
    if (!peer) return
    const params = { channel: session, provider: 'mock' }
    peer.request('createSession', params).then(
      () => {
        this.created.add(session)
        this.#subscribe(peer, session)
      },
      () => {},
    )
  }

  dispatch(channel: string, action: object): void {
    if (!this.linked) return
    const clientSeq = ++this.#clientSeq
    this.sent.push({ channel, clientSeq })
    this.#peer?.notify('dispatchAction', { channel, clientSeq, action })
  }

  /** The sessions that the host lists for this client. */
  async sessions(): Promise<Result<'listSessions'>['items']> {
    const answer = await this.#peer?.request('listSessions', { channel: root })
    if (!answer) throw new Error(`${this.clientId} has no link`)
    return answer.items
  }

  #subscribe(peer: Peer, channel: string): void {
    for (const each of [channel, defaultChatUri(channel)])
      peer.request('subscribe', { channel: each }).catch(() => {})
  }

  #received({ channel, origin, serverSeq, rejectionReason }: Envelope): void {
    if (origin?.clientId !== this.clientId || rejectionReason !== undefined) return
    const sent = this.sent.find((each) => each.channel === channel && each.clientSeq === origin.clientSeq)
    if (sent) sent.accepted = serverSeq
  }
}

const root = 'ahp-root://'
