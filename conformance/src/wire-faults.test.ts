import { describe, test } from 'vitest'
import { wireFaults } from '../test/faults.ts'
import { expectFoundBy, limitMs } from '../test/judge.ts'

describe.concurrent('[C5] one fault of messages, subscriptions or order', () => {
  test.each(Object.entries(wireFaults))('%s is found by %j and no other rule', expectFoundBy, limitMs)
})
