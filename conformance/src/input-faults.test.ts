import { describe, test } from 'vitest'
import { inputFaults } from '../test/faults.ts'
import { expectFoundBy, limitMs } from '../test/judge.ts'

describe.concurrent('[C5] one fault of tool calls, questions or queued messages', () => {
  test.each(Object.entries(inputFaults))('%s is found by %j and no other rule', expectFoundBy, limitMs)
})
