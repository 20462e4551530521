import { expect, test } from 'vitest'
import { allPassed, line, skipped, summary } from './report.ts'
import { steps } from './steps/steps.ts'

const passed = { name: 'open a door', seconds: 1.5, refused: [] }
const failed = {
  name: 'close a door',
  seconds: 30,
  failure: 'timed out:\n the door',
  refused: ['chat/turnStarted: too late'],
}

test('[B44] each step has a line, with the reason of its failure and what the host refused', () => {
  expect(line(passed, 3)).toBe('pass   3  open a door (1.5 s)')
  expect(line(failed, 12)).toBe(`FAIL  12  close a door (30 s)
          timed out: the door
          refused: chat/turnStarted: too late`)
})

test('[B44] the last line has the count; all have passed only if something ran and nothing failed', () => {
  expect(summary([passed, failed])).toBe('1 of 2 steps passed')
  expect(skipped(40)).toBe('skipped: no VS Code workbench (40 steps)')
  expect([allPassed([passed]), allPassed([passed, failed]), allPassed([])]).toEqual([true, false, false])
})

test('[B44] every step has a name of its own, which names its picture', () => {
  const names = steps.map(({ name }) => name.replaceAll(/\W+/g, '-'))
  expect(new Set(names).size).toBe(steps.length)
})
