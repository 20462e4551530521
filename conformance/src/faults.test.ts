import { describe, test } from 'vitest'
import { wireFaults } from '../test/faults.ts'
import { expectFound, limitMs } from '../test/judge.ts'

describe.concurrent('[C5] one fault', () => {
  test.each(Object.entries(wireFaults))('%s is found out by %j and nothing else', expectFound, limitMs)
})
