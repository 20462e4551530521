import { expect, test } from 'vitest'
import { allPassed, table } from './matrix.ts'
import type { Row } from './matrix.ts'

const passing: Row = {
  agent: 'goose',
  version: '1.0.0',
  cells: { text: { outcome: 'passed' }, killed: { outcome: 'handed over' } },
}
const reason = 'timed out: the end of a turn that it had started'
const failing: Row = {
  agent: 'codex',
  version: '2.0.0',
  cells: { text: { outcome: 'passed' }, killed: { outcome: 'failed', reason } },
}

test('[B43] the table has a line per scene, a column per agent, and every reason in full', () => {
  expect(table([passing, failing])).toBe(
    `        goose 1.0.0  codex 2.0.0
text    passed       passed
killed  handed over  timed out: the end of a turn th…

codex killed: ${reason}`,
  )
})

test('[B43] all have passed only if nothing failed and something was tried', () => {
  expect(allPassed([passing])).toBe(true)
  expect(allPassed([passing, failing])).toBe(false)
  expect(allPassed([])).toBe(false)
})
