import type { Page } from 'playwright-core'
import { atMost, fact, row } from '../figures.ts'
import { ms } from '../sides.ts'
import { endFrames, throttle, watchFrames } from './frames.ts'
import type { Frames } from './frames.ts'
import { placeOf } from './room.ts'
import type { Room } from './room.ts'
import { newSession } from './sessions.ts'

/**
 * Measures the frames of a page while an agent writes 3,000 words as fast as it can: with the page's processor at
 * full speed, and six times slower.
 */
export async function streaming(room: Room): Promise<boolean> {
  let met = true
  for (const rate of [1, 6]) {
    const { page, debug } = await room.page()
    const filled = await newSession(room.filler, `stream-${rate}`)
    await open(page, placeOf(filled.session))
    await throttle(debug, rate)
    const { p95, max, dropped, count } = await streamed(page)
    met =
      row(
        `time between frames of a page at 1/${rate} of its speed, p95`,
        ms(p95, 0),
        atMost(1, p95 / 33, 'a frame of 30 Hz'),
      ) && met
    fact('the longest', ms(max, 0))
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
