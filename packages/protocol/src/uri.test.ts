import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  annotationsUri,
  automationRunUri,
  automationUri,
  automationsUri,
  base64url,
  canvasUri,
  changesetUri,
  chatUri,
  defaultChatUri,
  resourceWatchUri,
  rootUri,
  sessionUri,
  terminalUri,
} from './uri.ts'

test('[P9] base64url encodes every text as Node does', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(base64url(text)).toBe(Buffer.from(text, 'utf8').toString('base64url'))
    }),
  )
})

test('[P9] [P9.1] new URIs have the forms that released clients expect', () => {
  expect(sessionUri('7f')).toBe('ahp-session:/7f')
  expect(chatUri('7f')).toBe('ahp-chat:/7f')
  const others = [terminalUri, changesetUri, resourceWatchUri, automationUri, automationRunUri, canvasUri]
  expect(others.map((uriOf) => uriOf('7f'))).toEqual([
    'ahp-terminal:/7f',
    'ahp-changeset:/7f',
    'ahp-resource-watch:/7f',
    'ahp-automation:/7f',
    'ahp-automation-run:/7f',
    'ahp-canvas:/7f',
  ])
  expect([rootUri, automationsUri]).toEqual(['ahp-root://', 'ahp-automations://'])
  expect(annotationsUri('ahp-session:/7f')).toBe('ahp-session:/7f/annotations')
  expect(defaultChatUri('claude:/1')).toBe('ahp-chat://default/Y2xhdWRlOi8x')
})
