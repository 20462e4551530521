import { limitTable } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { textOfTests } from './files.ts'

const named = new Set(textOfTests().match(/\[S-57 \w+\] (?:at|past) [\d,]*\d/g))

test.each(Object.entries(limitTable))(
  'S-57: %s has a test at its value and one past it',
  (name, { value }) => {
    for (const where of ['at', 'past'])
      expect(named.has(`[S-57 ${name}] ${where} ${value.toLocaleString('en-US')}`), where).toBe(true)
  },
)
