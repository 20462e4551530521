import { describe, test } from 'vitest'
import { askFaults } from '../test/faults.ts'
import { expectFound, limitMs } from '../test/judge.ts'

describe.concurrent('[C5] one fault of what people are asked', () => {
  test.each(Object.entries(askFaults))('%s is found out by %j and nothing else', expectFound, limitMs)
})
