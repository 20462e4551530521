import { expect, test } from 'vitest'
import { usageWords } from './usage-words.ts'

test('[U38] one token is one token', () => {
  expect(usageWords({ inputTokens: 1, outputTokens: 2 })).toBe('1 token in, 2 out')
  expect(usageWords({ inputTokens: 1200, outputTokens: 1 })).toBe('1.2K tokens in, 1 out')
})
