import { expect, test } from 'vitest'
import { Ledger } from './ledger.ts'

const told = (serverSeq: number, title: string) => ({
  channel: 'ahp-session:/1',
  serverSeq,
  action: { type: 'session/titleChanged', title },
})

test('[B27] a log that has everything that was told passes', () => {
  const ledger = new Ledger()
  expect([told(1, 'a'), told(2, 'b'), told(1, 'a')].map((one) => ledger.note(one))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(ledger.audit([told(1, 'a'), told(2, 'b'), told(3, 'nobody was there')])).toEqual([])
})

test('[B27] what was told and is gone, or reads otherwise, is found', () => {
  const ledger = new Ledger()
  for (const one of [told(1, 'a'), told(2, 'b'), told(3, 'c')]) ledger.note(one)
  const problems = ledger.audit([told(1, 'a'), told(3, 'other')])
  expect(problems).toHaveLength(2)
  expect(problems[0]).toContain('2 was told')
  expect(problems[1]).toContain('3 was told')
})

test('[B27] one number for two actions is found', () => {
  const ledger = new Ledger()
  ledger.note(told(1, 'a'))
  expect(ledger.note(told(1, 'b'))).toContain('number 1 was told as')
})

test('[B27] what a refusal called accepted must be in the log', () => {
  const ledger = new Ledger()
  ledger.note({ ...told(9, 'a'), rejectionReason: 'already accepted as 4' })
  ledger.note({ ...told(10, 'a'), rejectionReason: 'no' })
  expect(ledger.audit([told(4, 'a')])).toEqual([])
  expect(ledger.audit([])).toEqual(['4 was said to be accepted and is not in the log'])
})
