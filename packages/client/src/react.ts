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

/** A channel as a component sees it. The object is replaced only when something changes. */
export interface ChannelView<K extends KindName> {
  readonly state: StateOf<K> | undefined
  readonly pending: readonly PendingAction[]
  readonly status: ChannelStatus
  readonly problem: Error | undefined
  readonly dispatch: (action: ActionOn<K>) => Promise<Outcome>
}

/** Subscribes to a channel while the component is mounted. Components with the same channel share a subscription. */
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
  return useSyncExternalStore(store.subscribe, store.read, store.read)
}

/** Returns the sessions of a host, last modified first. */
export function useSessions(client: Client): readonly SessionSummary[] {
  const store = useMemo(() => {
    const open = () => new SessionList(client)
    return storeOf(open, (list: SessionList | undefined) => list?.items ?? none)
  }, [client])
  return useSyncExternalStore(store.subscribe, store.read, store.read)
}

/** Returns the link's status: whether the shown states are up to date. */
export function useLink(client: Client): LinkStatus {
  const subscribe = useMemo(() => (changed: () => void) => client.onLink(changed), [client])
  const read = () => client.link
  return useSyncExternalStore(subscribe, read, read)
}

const none: readonly never[] = []

function channelStore<K extends KindName>(client: Client, kind: K, uri: Uri, options: ChannelOptions) {
  const dispatch = (action: ActionOn<K>) => client.dispatch(uri, action)
  const opening = {
    state: undefined,
    pending: none,
    status: 'opening',
    problem: undefined,
    dispatch,
  } as const
  return storeOf(
    () => client.subscribe(kind, uri, options),
    (handle): ChannelView<K> => {
      if (!handle) return opening
      const { state, pending, status, problem } = handle
      return { state, pending, status, problem, dispatch }
    },
  )
}

interface Handle {
  onChange(listener: () => void): () => void
  release(): void
}

/**
 * A store for React. It opens a handle for the first subscriber, and releases the handle after the last one.
 * Subscribers are counted, because React may subscribe twice, or again right after it has unsubscribed.
 */
function storeOf<H extends Handle, T>(open: () => H, valueOf: (handle: H | undefined) => T) {
  let handle: H | undefined
  let subscribers = 0
  let cached: { readonly value: T } | undefined
  return {
    subscribe(changed: () => void): () => void {
      subscribers++
      const opened = (handle ??= open())
      cached = undefined
      const unlisten = opened.onChange(() => {
        cached = undefined
        changed()
      })
      return () => {
        unlisten()
        if (--subscribers > 0) return
        opened.release()
        handle = undefined
        cached = undefined
      }
    },
    /** Returns a cached value, because React compares the values of two reads by identity. */
    read(): T {
      cached ??= { value: valueOf(handle) }
      return cached.value
    },
  }
}
