import { describe, test } from 'vitest'
import { automationFaults } from '../test/faults.ts'
import { expectFoundBy, limitMs } from '../test/judge.ts'

describe.concurrent('[C5] one fault of automations or telemetry', () => {
  test.each(Object.entries(automationFaults))('%s is found by %j and no other rule', expectFoundBy, limitMs)
})
