import type { Transport } from '@atrium/protocol/rpc/transport'

/**
 * The transport that the JSON-RPC peer of a connection uses. The methods in `own` replace those of the connection's
 * transport: incoming frames wait for their turn, and responses go through the outbox.
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
