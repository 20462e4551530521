import type { Client } from '@atrium/client/client'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { useEffect, useRef } from 'preact/hooks'
import type { RefObject } from 'preact'
import type { Screen } from './screen.ts'

/** The whole output of a terminal so far. */
export function outputOf({ content }: Pick<TerminalState, 'content'>): string {
  return content.map((part) => (part.type === 'command' ? part.output : (part.value ?? ''))).join('')
}

/**
 * Shows a terminal of the host on a screen: first what it has, then each piece of output as it comes. After a lost link,
 * everything is shown anew, because pieces may be missing.
 */
export function useScreen(
  client: Client,
  uri: string,
  mine: boolean,
): { readonly place: RefObject<HTMLDivElement | null>; readonly type: (data: string) => void } {
  const place = useRef<HTMLDivElement>(null)
  const screen = useRef<Screen>(undefined)
  const allowed = useRef(mine)
  allowed.current = mine
  const type = (data: string) => {
    if (allowed.current) void client.dispatch(uri, input(data))
  }
  const resize = () => {
    if (screen.current && allowed.current) void client.dispatch(uri, resized(screen.current.fit()))
  }
  useEffect(() => {
    const handle = client.subscribe('terminal', uri)
    const ends: (() => void)[] = [() => handle.release()]
    let ended = false
    const open = async () => {
      const [{ openScreen }] = await Promise.all([import('./screen.ts'), handle.ready()])
      if (ended || !place.current) return
      const opened = openScreen(place.current, type)
      screen.current = opened
      opened.fit()
      resize()
      const showAll = () => opened.replace(handle.confirmed ? outputOf(handle.confirmed) : '')
      showAll()
      let status = handle.status
      const observer = new ResizeObserver(resize)
      observer.observe(place.current)
      ends.push(
        client.onAction(({ channel, action }) => {
          if (channel === uri && action.type === 'terminal/data' && 'data' in action)
            opened.write(String(action.data))
        }),
        handle.onChange(() => {
          if (status !== 'open' && handle.status === 'open') showAll()
          status = handle.status
        }),
        () => observer.disconnect(),
        () => opened.dispose(),
      )
    }
    open().catch(() => {})
    return () => {
      ended = true
      screen.current = undefined
      for (const end of ends) end()
    }
  }, [client, uri])
  useEffect(() => {
    resize()
    if (mine) screen.current?.focus()
  }, [mine])
  return { place, type }
}

const input = (data: string) => ({ type: 'terminal/input', data })
const resized = (size: { readonly cols: number; readonly rows: number }) => ({
  type: 'terminal/resized',
  ...size,
})
