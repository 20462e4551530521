import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The fewest and the most characters that one frame adds to a growing text. */
const fewest = 240
const most = 4000
/** The number of characters in the first frame of a text. */
const firstSize = 400
/** A frame adds at least this part of what is not shown yet, so that a slow machine does not fall far behind. */
const leastPart = 1 / 64
/** A frame is fast if it took less than `fastMs` milliseconds, and slow if it took more than `slowMs`. */
const fastMs = 22
const slowMs = 30

/**
 * How many characters a frame adds: more while frames are fast, fewer as soon as they are slow. After a slow frame, one
 * frame adds nothing. Even one word costs a slow machine most of a frame, and keys and scrolling need frames, too.
 */
export class RevealPace {
  #size = firstSize
  #last: number | undefined

  /**
   * Returns how many characters to show more in the frame that begins at `now` (in ms), of those that are `left`. 0: this
   * frame adds nothing, and the next one does.
   */
  next(now: number, left = 0): number {
    const tookMs = this.#last === undefined ? undefined : now - this.#last
    if (tookMs !== undefined && tookMs > slowMs) {
      this.#size = Math.max(fewest, this.#size / 2)
      this.rest()
      return 0
    }
    this.#last = now
    if (tookMs !== undefined && tookMs < fastMs) this.#size = Math.min(most, this.#size * 1.25)
    return Math.round(Math.max(this.#size, left * leastPart))
  }

  /** Called when a frame adds nothing. The time until the text grows again is not the time of a frame that has grown. */
  rest(): void {
    this.#last = undefined
  }
}

/**
 * The part of a growing text that is shown. An agent may write faster than a slow machine can lay text out. Then each frame
 * adds only as much as it can draw in time, and the rest follows. Other texts are shown as a whole.
 * `follows`: the rest of a text that has ended may follow, too.
 */
export function useRevealed(text: string, streaming: boolean, follows: boolean): string {
  const [length, setLength] = useState(() => Math.min(text.length, firstSize))
  const pace = useRef<RevealPace>(undefined)
  pace.current ??= new RevealPace()
  const { current } = pace
  const isAll = !(streaming || follows) || length >= text.length
  useLayoutEffect(() => {
    if (isAll) {
      current.rest()
      if (length !== text.length) setLength(text.length)
      return
    }
    let frame = 0
    const show = (time: number) => {
      const more = current.next(time, text.length - length)
      if (more === 0) frame = requestAnimationFrame(show)
      else setLength((now) => Math.max(now, cutAt(text, length + more)))
    }
    // A page that nobody sees has no frames, so all of the text is shown at once.
    if (document.visibilityState === 'hidden') return setLength(text.length)
    frame = requestAnimationFrame(show)
    return () => cancelAnimationFrame(frame)
  }, [text, length, isAll, current])
  return isAll ? text : text.slice(0, length)
}

/** A length at which the text can be cut: not between the halves of a character. */
function cutAt(text: string, length: number): number {
  const code = text.charCodeAt(length)
  return code >= 0xdc00 && code <= 0xdfff ? length + 1 : length
}
