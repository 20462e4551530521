import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** Expects that axe finds nothing on the screen. It is injected by the debugger, which the policy of the page allows. */
export async function expectAccessible(page: Page, screen: string): Promise<void> {
  await page.evaluate(axe)
  // axe answers with objects of this shape.
  const found = (await page.evaluate(
    'axe.run().then(({ violations }) => violations)',
  )) as readonly Violation[]
  const words = found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`)
  expect({ screen, words }).toEqual({ screen, words: [] })
}
