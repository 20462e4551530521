import type { Transport } from '@atrium/protocol/rpc/transport'

/**
 * The transport that the JSON-RPC peer of a connection uses. It differs from the transport of the link in what is given here:
 * incoming frames wait for their turn, and responses go through the outbox.
 */
export function peerTransport(
  transport: Transport,
  own: Pick<Transport, 'send' | 'receive' | 'close'>,
): Transport {
  return {
    ...own,
    drained: () => transport.drained(),
    closed: transport.closed,
    get buffered() {
      return transport.buffered
    },
  }
}
