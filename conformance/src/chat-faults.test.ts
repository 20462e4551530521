import { describe, test } from 'vitest'
import { chatFaults } from '../test/faults.ts'
import { expectFoundBy, limitMs } from '../test/judge.ts'

describe.concurrent('[C5] one fault of sessions, chats or turns', () => {
  test.each(Object.entries(chatFaults))('%s is found by %j and no other rule', expectFoundBy, limitMs)
})
