import { expect, test } from 'vitest'
import { DeliveryRecord } from './delivery-record.ts'

const envelope = (serverSeq: number, title: string) => ({
  channel: 'ahp-session:/1',
  serverSeq,
  action: { type: 'session/titleChanged', title },
})

test('[B27] a log that contains every delivered action passes', () => {
  const record = new DeliveryRecord()
  expect([envelope(1, 'a'), envelope(2, 'b'), envelope(1, 'a')].map((each) => record.add(each))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(record.audit([envelope(1, 'a'), envelope(2, 'b'), envelope(3, 'not delivered')])).toEqual([])
})

test('[B27] a delivered action that is missing from the log, or differs there, is found', () => {
  const record = new DeliveryRecord()
  for (const each of [envelope(1, 'a'), envelope(2, 'b'), envelope(3, 'c')]) record.add(each)
  const problems = record.audit([envelope(1, 'a'), envelope(3, 'other')])
  expect(problems).toHaveLength(2)
  expect(problems[0]).toContain('2 was delivered')
  expect(problems[1]).toContain('3 was delivered')
})

test('[B27] two actions with the same number are found', () => {
  const record = new DeliveryRecord()
  record.add(envelope(1, 'a'))
  expect(record.add(envelope(1, 'b'))).toContain('number 1 was delivered as')
})

test('[B27] an action that a rejection reports as accepted must be in the log', () => {
  const record = new DeliveryRecord()
  record.add({ ...envelope(9, 'a'), rejectionReason: 'already accepted as 4' })
  record.add({ ...envelope(10, 'a'), rejectionReason: 'no' })
  expect(record.audit([envelope(4, 'a')])).toEqual([])
  expect(record.audit([])).toEqual(['4 was reported as accepted and is not in the log'])
})
