import { expect } from 'vitest'
import { Room, begin, browserTest, eventually, expectUnharmed, send } from '../../test/browser.ts'

interface Seen {
  /** The highest number of blocks in the paragraph. */
  readonly blocks: number
  /** The height of the complete paragraph while it was cut. */
  readonly height: number
}

browserTest(
  '[U47] a long answer is cut into blocks while it grows, looks the same, and is one again',
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
