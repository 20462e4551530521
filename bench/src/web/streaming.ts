import { writeFileSync } from 'node:fs'
import type { CDPSession, Page } from 'playwright-core'
import { check, fact } from '../table.ts'
import { endFrames, throttle, watchFrames } from './frames.ts'
import type { Frames } from './frames.ts'
import { placeOf } from './room.ts'
import type { Room } from './room.ts'
import { newSession } from './sessions.ts'

/**
 * The goal for the 95th percentile of the times between frames, in milliseconds. It is the time of 30 frames per
 * second.
 */
const goalMs = 33

/**
 * Measures the frames of a page while an agent writes 3,000 words as fast as it can: with the page's processor at
 * full speed, and six times slower.
 */
export async function streaming(room: Room): Promise<boolean> {
  console.log('\nweb: frames while 3,000 words arrive as fast as they go')
  let met = true
  for (const rate of [1, 6]) {
    const { page, debug } = await room.page()
    const filled = await newSession(room.filler, `stream-${rate}`)
    await open(page, placeOf(filled.session))
    await throttle(debug, rate)
    const frames = await profiled(debug, rate, () => streamed(page))
    const { p50, p95, max, dropped, count } = frames
    const text = `p95 ${p95.toFixed(0)} ms, p50 ${p50.toFixed(0)} ms, longest ${max.toFixed(0)} ms`
    met = check(`at ${rate}x, at most ${goalMs} ms`, text, p95 <= goalMs) && met
    fact(`dropped at ${rate}x`, `${dropped} of ${dropped + count} frames`)
    await page.context().close()
  }
  return met
}

async function open(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(place)}`)
  await page.getByLabel('Message', { exact: true }).waitFor()
}

/** Sends the message as a person does, and waits until the turn has ended. */
async function streamed(page: Page): Promise<Frames> {
  await page.getByLabel('Message', { exact: true }).fill('long 3000')
  await watchFrames(page)
  await page.keyboard.press('Enter')
  await page.locator('.turn-foot').waitFor()
  return endFrames(page)
}

/**
 * Runs `run`. If `ATRIUM_PROFILE` names a folder, also records a processor profile of the page and writes it there.
 */
async function profiled<T>(debug: CDPSession, rate: number, run: () => Promise<T>): Promise<T> {
  const folder = process.env['ATRIUM_PROFILE']
  if (folder === undefined) return run()
  const events: unknown[] = []
  debug.on('Tracing.dataCollected', ({ value }) => void events.push(...value))
  const ended = new Promise<void>((resolve) => debug.once('Tracing.tracingComplete', () => resolve()))
  const categories = 'devtools.timeline,disabled-by-default-v8.cpu_profiler,v8.execute'
  await debug.send('Tracing.start', { categories, transferMode: 'ReportEvents' })
  const result = await run()
  await debug.send('Tracing.end')
  await ended
  writeFileSync(`${folder}/stream-${rate}x.json`, JSON.stringify({ traceEvents: events }))
  return result
}
