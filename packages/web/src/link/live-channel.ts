import type { Client } from '@atrium/client/client'
import type { ChannelOptions, ChannelStatus } from '@atrium/client/sync/channel'
import type { PendingAction } from '@atrium/client/sync/replica'
import type { ActionOn, StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import type { Outcome } from '@atrium/client/sync/pending-actions'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useShown } from '../ui/shown.ts'

/** A channel as the page shows it. */
export interface LiveChannel<K extends KindName> {
  readonly state: StateOf<K> | undefined
  readonly pending: readonly PendingAction[]
  readonly status: ChannelStatus
  readonly problem: Error | undefined
  readonly dispatch: (action: ActionOn<K>) => Promise<Outcome>
}

/** The pause between two drawings of a page that nobody sees, in milliseconds. */
const hiddenMs = 1000
/** The longest pause between two drawings of a page that is seen. */
const longestPauseMs = 250

/**
 * Subscribes to a channel and draws it at most once per frame. A fast agent sends more actions than a screen has frames;
 * all that arrive within a frame are drawn together. A part of the page that is not shown draws nothing until it is.
 */
export function useLiveChannel<K extends KindName>(
  client: Client,
  kind: K,
  uri: string,
  turns?: number,
): LiveChannel<K> {
  const options: ChannelOptions = useMemo(() => (turns === undefined ? {} : { view: { turns } }), [turns])
  const dispatch = useMemo(() => (action: ActionOn<K>) => client.dispatch(uri, action), [client, uri])
  const [view, setView] = useState<{ readonly uri: string; readonly channel: LiveChannel<K> }>()
  const shown = useShown()
  /** Whether this part is shown, and what draws the changes that have come while it was not. */
  const part = useRef<{ shown: boolean; late: (() => void) | undefined }>({ shown, late: undefined })
  part.current.shown = shown
  useEffect(() => {
    const handle = client.subscribe(kind, uri, options)
    const pace = new Pace()
    let cancel: (() => void) | undefined
    const draw = () => {
      cancel?.()
      cancel = undefined
      part.current.late = undefined
      pace.drawn()
      const { state, pending, status, problem } = handle
      setView({ uri, channel: { state, pending, status, problem, dispatch } })
    }
    const changed = () => {
      if (part.current.shown) cancel ??= soon(draw, pace.pauseMs)
      else part.current.late = draw
    }
    const unlisten = handle.onChange(changed)
    draw()
    return () => {
      cancel?.()
      part.current.late = undefined
      unlisten()
      handle.release()
    }
  }, [client, kind, uri, options, dispatch])
  useLayoutEffect(() => {
    if (shown) part.current.late?.()
  }, [shown])
  // After a change of `uri`, the state of the earlier channel must not be returned for the new one, not even for one
  // frame.
  if (view?.uri === uri) return view.channel
  return { state: undefined, pending: [], status: 'opening', problem: undefined, dispatch }
}

/**
 * How long a change waits before it is drawn. If the last drawing took more than 24 ms, on a slow machine or of a
 * long text, the wait is twice that time, at most `longestPauseMs`, so that typing and scrolling stay smooth.
 */
class Pace {
  pauseMs = 0

  drawn(): void {
    const began = performance.now()
    requestAnimationFrame(() => {
      const tookMs = performance.now() - began
      this.pauseMs = tookMs > 24 ? Math.min(tookMs * 2, longestPauseMs) : 0
    })
  }
}

/** Runs a task with the next frame after a pause. A hidden page has no frames, so it gets a timer. */
function soon(task: () => void, pauseMs: number): () => void {
  let frame: number | undefined
  const visible = document.visibilityState === 'visible'
  const next = () => (visible ? void (frame = requestAnimationFrame(task)) : task())
  if (visible && pauseMs === 0) next()
  const timer = visible && pauseMs === 0 ? undefined : setTimeout(next, visible ? pauseMs : hiddenMs)
  return () => {
    clearTimeout(timer)
    if (frame !== undefined) cancelAnimationFrame(frame)
  }
}
