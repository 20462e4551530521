import type { HostInfo } from '@atrium/client/link/handshake'

/** A connected client. `host` is what the host answered to `initialize`; its `_meta` has data that only Atrium hosts send. */
export interface WithMeta {
  readonly host: Pick<HostInfo, '_meta'> | undefined
}

interface AtriumMeta {
  readonly lost?: string
  readonly agents?: readonly { readonly provider?: string; readonly lastWords?: readonly string[] }[]
  readonly clients?: readonly {
    readonly name?: string
    readonly title?: string
    readonly version?: string
    readonly protocolVersion: string
  }[]
}

/**
 * Returns the data that only an Atrium host adds to its answer to `initialize`; empty for other hosts. The cast is
 * needed because the protocol leaves `_meta` untyped.
 */
export function atriumMeta({ host }: WithMeta): AtriumMeta {
  return (host?._meta?.['x-atrium'] ?? {}) as AtriumMeta
}
