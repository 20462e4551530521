import { describe, test } from 'vitest'
import { talkFaults } from '../test/faults.ts'
import { expectFound, limitMs } from '../test/judge.ts'

describe.concurrent('[C5] one fault of sessions, chats or turns', () => {
  test.each(Object.entries(talkFaults))('%s is found out by %j and nothing else', expectFound, limitMs)
})
