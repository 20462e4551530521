import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { eventually, shot } from './browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** The rules of axe that depend on colours. All others judge the document, which is the same in both themes. */
const colourRules = ['color-contrast', 'link-in-text-block']

/** Expects that axe finds nothing on the screen. It is injected by the debugger, which the policy of the page allows. */
export async function expectAccessible(page: Page, screen: string, rules?: readonly string[]): Promise<void> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe)
  // axe answers with objects of this shape.
  const found = (await page.evaluate(
    `axe.run(${JSON.stringify(rules ? { runOnly: rules } : {})}).then(({ violations }) => violations)`,
  )) as readonly Violation[]
  const words = found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`)
  expect({ screen, words }).toEqual({ screen, words: [] })
}

/** Expects that axe finds nothing on the screen in the light and in the dark theme. `picture`: the name of a picture of each. */
export async function expectAccessibleInBoth(page: Page, screen: string, picture?: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // A colour on its way from one theme to the other has a contrast that nobody sees. The promise `finished` is of no
    // use here: it stays open if its element stops being drawn, as in a session that was left.
    await eventually(() => page.evaluate(transitions)).toBe(0)
    if (picture !== undefined) await shot(page, `${picture}-${colorScheme}`)
    await expectAccessible(
      page,
      `${screen}, ${colorScheme}`,
      colorScheme === 'dark' ? colourRules : undefined,
    )
  }
}

/** The number of transitions that still run. */
const transitions = `document.getAnimations()
  .filter((each) => each instanceof CSSTransition && each.playState === 'running').length`
