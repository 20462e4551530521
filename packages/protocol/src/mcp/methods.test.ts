import { expect, test } from 'vitest'
import { mcpServes } from './methods.ts'

test.each([
  [{ serverTools: {} }, 'tools/call', true],
  [{ serverTools: {} }, 'resources/read', false],
  [{ serverTools: {} }, 'notifications/tools/list_changed', false],
  [{ serverTools: { listChanged: true } }, 'notifications/tools/list_changed', true],
  [{ logging: {} }, 'logging/setLevel', true],
  [{ sampling: {} }, 'sampling/createMessage', true],
  [{}, 'tools/list', false],
  [{ serverTools: {} }, 'constructor', false],
])('[P12] %j serves %s: %s', (capabilities, method, served) => {
  expect(mcpServes(capabilities, method)).toBe(served)
})
