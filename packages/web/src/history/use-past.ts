import type { Client } from '@atrium/client/client'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { PastReader } from './past-reader.ts'
import type { Moment } from './past-reader.ts'

/** The pause between two steps while the past is played, in milliseconds. */
const playMs = 160

/** The position after the last action, which nobody has to know. */
export const newest = Number.POSITIVE_INFINITY

export interface PastView {
  readonly moment: Moment | undefined
  /** The position that a person has chosen. Until its moment is loaded, `moment` is the earlier one. */
  readonly position: number
  readonly total: number
  readonly problem: string | undefined
  /** The share of the log that the host has read, from 0 to 1. Undefined unless the host reads a long log. */
  readonly progress: number | undefined
  readonly playing: boolean
  /** Goes to a position, or with `newest` to the last action that the host has. */
  readonly go: (position: number) => void
  readonly play: (on: boolean) => void
  readonly loadOlder: () => void
}

/** The past of a chat, and the moment that a person looks at. `step`: the number of actions in a step of playing. */
export function usePast(client: Client, chat: string, step: number): PastView {
  const [moment, setMoment] = useState<Moment>()
  const [position, setPosition] = useState(0)
  const [problem, setProblem] = useState<string>()
  const [progress, setProgress] = useState<number>()
  const [playing, play] = useState(false)
  const reader = useMemo(
    () => new PastReader(client, chat, (reached, upTo) => setProgress(upTo === 0 ? 0 : reached / upTo)),
    [client, chat],
  )
  const wanted = useRef<number>(undefined)
  const busy = useRef(false)

  const go = useCallback(
    (to: number) => {
      wanted.current = to
      if (to !== newest) setPosition(Math.max(0, to))
      if (busy.current) return
      busy.current = true
      const load = async () => {
        // A person moves the slider faster than the host answers. So only the newest chosen position is loaded.
        while (wanted.current !== undefined) {
          const next = wanted.current
          const found = await (next === newest ? reader.newest() : reader.moment(next))
          setMoment(found)
          setProblem(undefined)
          if (wanted.current !== next) continue
          wanted.current = undefined
          setPosition(found.position)
        }
      }
      load()
        .catch((error: unknown) => setProblem(wordsOf(error)))
        .finally(() => {
          busy.current = false
          wanted.current = undefined
          setProgress(undefined)
        })
    },
    [reader],
  )

  useEffect(() => {
    setMoment(undefined)
    go(newest)
  }, [go])

  const total = moment?.range.total ?? 0
  const at = moment?.position
  useEffect(() => {
    // The next step waits until the chosen moment is loaded.
    if (!playing || at === undefined || at !== position) return
    if (at >= total) return play(false)
    const timer = setTimeout(() => go(Math.min(total, at + step)), playMs)
    return () => clearTimeout(timer)
  }, [playing, at, position, total, step, go])

  const loadOlder = useCallback(() => {
    if (!moment || busy.current) return
    busy.current = true
    reader
      .withOlder(moment)
      .then(setMoment, (error: unknown) => setProblem(wordsOf(error)))
      .finally(() => void (busy.current = false))
  }, [reader, moment])

  return { moment, position, total, problem, progress, playing, go, play, loadOlder }
}

function wordsOf(error: unknown): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  if (code === -32601) return 'This host cannot show the past: it is older than this page.'
  return typeof message === 'string' ? message.replace(/^x-atrium\/\w+: /, '') : String(error)
}
