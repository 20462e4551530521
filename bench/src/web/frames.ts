import type { CDPSession, Page } from 'playwright-core'
import { percentile } from '../percentiles.ts'

/** The times between the frames of a page, in milliseconds. */
export interface Frames {
  readonly p50: number
  readonly p95: number
  readonly max: number
  readonly count: number
  /** The number of frames that are missing, compared with a screen of 60 Hz. */
  readonly dropped: number
}

const frameMs = 1000 / 60

/** Begins to note the time of every frame of the page. */
export async function watchFrames(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    globalThis.frameTimes = []
    const note = (time) => {
      frameTimes.push(time)
      globalThis.frameWatch = requestAnimationFrame(note)
    }
    globalThis.frameWatch = requestAnimationFrame(note)
  })()`)
}

/** Stops noting the times of frames. Returns their summary. */
export async function endFrames(page: Page): Promise<Frames> {
  const times = (await page.evaluate(`(() => {
    cancelAnimationFrame(globalThis.frameWatch)
    return globalThis.frameTimes
  })()`)) as readonly number[]
  return framesOf(times)
}

export function framesOf(times: readonly number[]): Frames {
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? time))
  const sorted = Float64Array.from(gaps).toSorted()
  return {
    p50: percentile(sorted, 50),
    p95: percentile(sorted, 95),
    max: sorted.at(-1) ?? NaN,
    count: gaps.length,
    dropped: gaps.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / frameMs) - 1), 0),
  }
}

/** Makes the processor of the page slower by this factor, as a phone is slower than this machine. */
export async function throttle(debug: CDPSession, rate: number): Promise<void> {
  await debug.send('Emulation.setCPUThrottlingRate', { rate })
}
