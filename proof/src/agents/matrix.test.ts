import { expect, test } from 'vitest'
import { holds, table } from './matrix.ts'
import type { Row } from './matrix.ts'

const well: Row = {
  agent: 'goose',
  version: '1.0.0',
  cells: { text: { outcome: 'passed' }, killed: { outcome: 'handed over' } },
}
const reason = 'never came: the end of the turn that it had begun'
const badly: Row = {
  agent: 'codex',
  version: '2.0.0',
  cells: { text: { outcome: 'passed' }, killed: { outcome: 'failed', reason } },
}

test('[B43] a line for each scene, a column for each agent, and every reason in full', () => {
  expect(table([well, badly])).toBe(
    `        goose 1.0.0  codex 2.0.0
text    passed       passed
killed  handed over  never came: the end of the turn…

codex killed: ${reason}`,
  )
})

test('[B43] it holds only if nothing failed, and something was tried', () => {
  expect(holds([well])).toBe(true)
  expect(holds([well, badly])).toBe(false)
  expect(holds([])).toBe(false)
})
