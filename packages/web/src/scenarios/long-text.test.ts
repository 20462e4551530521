import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { Room, begin, browserTest, eventually, expectUnharmed, send } from '../../test/browser.ts'

interface Seen {
  /** The highest number of blocks in the paragraph. */
  readonly blocks: number
  /** The height of the complete paragraph while it was cut. */
  readonly height: number
}

browserTest(
  '[U47] [U47.1] a long answer is cut into blocks while it grows, looks the same, and is one again',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'say first')
    await page.locator('.turn-foot').waitFor()
    await page.evaluate(`(() => {
    globalThis.seen = { blocks: 0, height: 0 }
    const look = () => {
      const last = [...document.querySelectorAll('.turn')].at(-1)
      const blocks = last.querySelectorAll('.lines').length
      const text = last.querySelector('.markdown p')
      if (blocks > 0 && last.querySelector('.turn-foot')) seen.height = text.getBoundingClientRect().height
      seen.blocks = Math.max(seen.blocks, blocks)
    }
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true })
  })()`)
    await send(page, 'long 12000')
    const turn = page.locator('.turn').nth(1)
    await turn.locator('.turn-foot').waitFor()
    // The blocks stay for a moment after the end.
    await eventually(() => page.locator('.lines').count()).toBe(0)
    const { blocks, height } = (await page.evaluate('globalThis.seen')) as Seen
    expect(blocks).toBeGreaterThan(0)
    const paragraph = turn.locator('.markdown p')
    expect((await paragraph.boundingBox())?.height).toBe(height)
    expect((await paragraph.innerText()).split(/\s+/)).toHaveLength(12_000)
    expectUnharmed(page)
  },
)

browserTest(
  '[U47] a slow page draws a fast answer step by step, and the end of the turn after it',
  async () => {
    const room = await Room.open()
    const page = await room.stranger()
    // A slow machine: each frame comes late, so that the turn has ended long before its text is drawn.
    await page.addInitScript(() => {
      const frame = requestAnimationFrame
      globalThis.requestAnimationFrame = (task) => window.setTimeout(() => frame(task), 40)
      globalThis.cancelAnimationFrame = (asked) => clearTimeout(asked)
    })
    await page.goto(await room.link())
    await page.getByText('Live', { exact: true }).waitFor()
    await begin(page, 'say first')
    await page.locator('.turn-foot').waitFor()
    // A page that gets no time at all while the turn runs shows the whole turn at once. Then the next turn is looked at.
    for (let at = 1; (await lengthsOf(page, at)).length <= 10; at++);
    expectUnharmed(page)
  },
)

/** The lengths that a turn of 3,000 words had on the page. Its end comes with the last of them. */
async function lengthsOf(page: Page, at: number): Promise<readonly number[]> {
  await page.evaluate(`(() => {
    globalThis.lengths = []
    globalThis.atEnd = undefined
    new MutationObserver(() => {
      const turn = document.querySelectorAll('.turn')[${at}]
      const { length } = turn?.querySelector('.markdown')?.textContent ?? ''
      if (length > (lengths.at(-1) ?? 0)) lengths.push(length)
      if (turn?.querySelector('.turn-foot')) atEnd ??= length
    }).observe(document.body, { childList: true, subtree: true, characterData: true })
  })()`)
  await send(page, 'long 3000')
  const turn = page.locator('.turn').nth(at)
  await turn.locator('.turn-foot').waitFor()
  expect((await turn.locator('.markdown').textContent())?.trim().split(/\s+/)).toHaveLength(3000)
  const lengths = await page.evaluate<readonly number[]>('lengths')
  expect(await page.evaluate('atEnd')).toBe(lengths.at(-1))
  return lengths
}
