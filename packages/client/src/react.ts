import { useMemo, useSyncExternalStore } from 'react'
import type { Uri } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import type { SessionSummary } from '@atrium/protocol/session/state'
import type { ChannelOptions, ChannelStatus } from './sync/channel.ts'
import type { Client } from './client.ts'
import type { ActionOn, StateOf } from '@atrium/protocol/kind-types'
import type { LinkStatus } from './link/reconnect.ts'
import type { PendingAction } from './sync/replica.ts'
import { SessionList } from './sessions.ts'
import type { Outcome } from './sync/pending-actions.ts'

/** A channel as a component sees it; the same object until something of it changes. */
export interface ChannelView<K extends KindName> {
  readonly state: StateOf<K> | undefined
  readonly pending: readonly PendingAction[]
  readonly status: ChannelStatus
  readonly problem: Error | undefined
  readonly dispatch: (action: ActionOn<K>) => Promise<Outcome>
}

/** Follows a channel while the component is there. Components that look at the same one share it. */
export function useChannel<K extends KindName>(
  client: Client,
  kind: K,
  uri: Uri,
  { view, delivery }: ChannelOptions = {},
): ChannelView<K> {
  const turns = view?.turns
  const maxLatencyMs = delivery?.maxLatencyMs
  const store = useMemo(() => {
    const options = {
      ...(turns !== undefined && { view: { turns } }),
      ...(maxLatencyMs !== undefined && { delivery: { maxLatencyMs } }),
    }
    return channelStore(client, kind, uri, options)
  }, [client, kind, uri, turns, maxLatencyMs])
  return useSyncExternalStore(store.subscribe, store.look, store.look)
}

/** The sessions of a host, those that changed last first. */
export function useSessions(client: Client): readonly SessionSummary[] {
  const store = useMemo(() => {
    const open = () => new SessionList(client)
    return storeOf(open, (list: SessionList | undefined) => list?.items ?? none)
  }, [client])
  return useSyncExternalStore(store.subscribe, store.look, store.look)
}

/** Whether what is shown is what the host says. */
export function useLink(client: Client): LinkStatus {
  const subscribe = useMemo(() => (changed: () => void) => client.onLink(changed), [client])
  const look = () => client.link
  return useSyncExternalStore(subscribe, look, look)
}

const none: readonly never[] = []

function channelStore<K extends KindName>(client: Client, kind: K, uri: Uri, options: ChannelOptions) {
  const dispatch = (action: ActionOn<K>) => client.dispatch(uri, action)
  const nothing = {
    state: undefined,
    pending: none,
    status: 'opening',
    problem: undefined,
    dispatch,
  } as const
  return storeOf(
    () => client.subscribe(kind, uri, options),
    (handle): ChannelView<K> => {
      if (!handle) return nothing
      const { state, pending, status, problem } = handle
      return { state, pending, status, problem, dispatch }
    },
  )
}

interface Handle {
  onChange(listener: () => void): () => void
  release(): void
}

/** Opened with the first who looks and released with the last; React may look twice, or leave and come back at once. */
function storeOf<H extends Handle, T>(open: () => H, read: (handle: H | undefined) => T) {
  let handle: H | undefined
  let lookers = 0
  let seen: { readonly value: T } | undefined
  return {
    subscribe(changed: () => void): () => void {
      lookers++
      const opened = (handle ??= open())
      seen = undefined
      const undo = opened.onChange(() => {
        seen = undefined
        changed()
      })
      return () => {
        undo()
        if (--lookers > 0) return
        opened.release()
        handle = undefined
        seen = undefined
      }
    },
    look(): T {
      seen ??= { value: read(handle) }
      return seen.value
    },
  }
}
