import type { CDPSession, Page } from 'playwright-core'
import { atMost, fact, row } from '../figures.ts'
import { median } from '../percentiles.ts'
import { ms } from '../sides.ts'
import { placeOf } from './room.ts'
import type { Room } from './room.ts'
import { clear, fill, newSession } from './sessions.ts'

const rounds = 7
const frameMs = 1000 / 60

/** Measures the time to open a session until its turns are on the screen: with 20 turns, and with 2,000. */
export async function opening(room: Room): Promise<boolean> {
  const turns = Array.from({ length: 2000 }, (_, at) => `say turn ${at} of a long conversation`)
  const short = await newSession(room.filler, 'short')
  await fill(room.filler, short, turns.slice(0, 20))
  const long = await newSession(room.filler, 'long')
  await fill(room.filler, long, turns)
  const { page } = await room.page()
  const times: { readonly short: number[]; readonly long: number[] } = { short: [], long: [] }
  for (let round = 0; round <= rounds; round++)
    for (const [name, { session }] of Object.entries({ short, long }) as ['short' | 'long', typeof short][]) {
      // A reload empties the memory of the page, so that each opening is the first.
      await page.goto(`${room.address}#/`)
      await page.reload()
      await page.locator('.session-groups li').first().waitFor()
      const time = await timed(page, placeOf(session), '.turn-foot')
      // The first round warms the host and the browser up.
      if (round > 0) times[name].push(time)
    }
  const [one, many] = [median(times.short), median(times.long)]
  fact('opening a chat of 20 turns', ms(one, 0))
  return row('opening a chat of 2,000 turns in the page', ms(many, 0), atMost(2, many / one, 'one of 20'))
}

/** Measures the time to switch from one open session to another that was open before. */
export async function switching(room: Room): Promise<boolean> {
  const sessions = [await newSession(room.filler, 'one'), await newSession(room.filler, 'two')]
  for (const each of sessions)
    await fill(
      room.filler,
      each,
      Array.from({ length: 20 }, (_, at) => `say turn ${at} in ${each.session}`),
    )
  const { page } = await room.page()
  const times: number[] = []
  for (let round = 0; round < 2 * rounds + 2; round++) {
    const { session } = sessions[round % 2] ?? { session: '' }
    const time = await timed(page, placeOf(session), `.turn[data-turn] .message-text`, session)
    if (round > 1) times.push(time)
  }
  return row(
    'switching to a session that was open before',
    ms(median(times)),
    atMost(2, median(times) / frameMs, 'a frame of 60 Hz'),
  )
}

/**
 * Measures the time from pressing Enter to the frame that shows the message. The host has not confirmed the message
 * yet.
 */
export async function keypress(room: Room): Promise<boolean> {
  const filled = await newSession(room.filler, 'typed')
  const { page } = await room.page()
  await timed(page, placeOf(filled.session), 'textarea')
  const times: number[] = []
  for (let round = 0; round <= 3 * rounds; round++) {
    await page.getByLabel('Message', { exact: true }).fill(`say ${round}`)
    await page.evaluate(`(() => {
      const count = document.querySelectorAll('.message-text').length
      globalThis.shownMs = new Promise((resolve) => {
        addEventListener('keydown', () => {
          const began = performance.now()
          const look = () => document.querySelectorAll('.message-text').length > count
            ? requestAnimationFrame(() => resolve(performance.now() - began)) : requestAnimationFrame(look)
          requestAnimationFrame(look)
        }, { once: true, capture: true })
      })
    })()`)
    await page.keyboard.press('Enter')
    const shown = Number(await page.evaluate('globalThis.shownMs'))
    await page.locator('.turn.active').waitFor({ state: 'detached' })
    if (round > 0) times.push(shown)
  }
  return row(
    'from Enter to the message on the screen',
    ms(median(times)),
    atMost(3, median(times) / frameMs, 'a frame of 60 Hz'),
  )
}

/**
 * Measures whether the memory of the page grows over many answers, 100,000 words in all. Each turn is removed after
 * its answer.
 */
export async function memory(room: Room): Promise<boolean> {
  const filled = await newSession(room.filler, 'memory')
  const { page, debug } = await room.page()
  await timed(page, placeOf(filled.session), 'textarea')
  const sizes: number[] = []
  for (let words = 0; words < 100_000; words += 4000) {
    await fill(room.filler, filled, ['long 4000'])
    await page.locator('.turn-foot').waitFor()
    await clear(room.filler, filled)
    await page.locator('.turn').waitFor({ state: 'detached' })
    sizes.push(await heapMb(debug))
  }
  const [early, late] = [median(sizes.slice(2, 7)), median(sizes.slice(-5))]
  return row(
    'heap of the page after 100,000 words',
    `${late.toFixed(1)} MB`,
    atMost(1.1, late / early, 'after 20,000'),
  )
}

async function heapMb(debug: CDPSession): Promise<number> {
  await debug.send('HeapProfiler.collectGarbage')
  const { usedSize } = await debug.send('Runtime.getHeapUsage')
  return usedSize / 1e6
}

/**
 * Changes the address of the page. Returns the milliseconds until the frame in which an element that matches
 * `selector` and contains `text` is on the screen.
 */
async function timed(page: Page, place: string, selector: string, text = ''): Promise<number> {
  return Number(
    await page.evaluate(`new Promise((resolve) => {
      const began = performance.now()
      location.hash = ${JSON.stringify(place)}
      const look = () => {
        const found = [...document.querySelectorAll(${JSON.stringify(selector)})]
        // A session that was left may still be in the document, and is not on the screen.
        if (found.some((each) => each.textContent.includes(${JSON.stringify(text)}) && each.checkVisibility()))
          resolve(performance.now() - began)
        else requestAnimationFrame(look)
      }
      requestAnimationFrame(look)
    })`),
  )
}
