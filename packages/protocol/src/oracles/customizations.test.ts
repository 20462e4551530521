import { describe, expect, test } from 'vitest'
import { reduce, spans } from '../../test/older-conversation.ts'

const summary = { title: 'a', status: 1, createdAt: 1, modifiedAt: 1 }
const skill = { type: 'skill', id: 's', name: 'lint' }
const server = { type: 'mcpServer', id: 'm', name: 'files', state: { kind: 'ready' }, channel: 'mcp://1' }
const plugin = { type: 'plugin', id: 'p', name: 'Plugin', children: [skill, server] }
const state = { summary, status: 1, customizations: [plugin] }
const toggle = (id: string) => ({
  type: 'session/customizationToggled',
  id,
  enabled: false,
  enablement: [{ kind: 'session', enabled: false }],
})
const customizationsAfter = (...args: Parameters<typeof reduce>) => reduce(...args)['customizations']

describe('customizations', () => {
  test.each(
    spans(
      ['0.2.0', '0.8.0-dev', [{ ...plugin, enabled: false }]],
      ['0.8.0', '1.0.0', [{ ...plugin, enablement: [{ kind: 'session', enabled: false }] }]],
    ),
  )('[V7] $version switches a plugin off: $expected', ({ version, expected }) => {
    expect(customizationsAfter(version, 'session', state, toggle('p'))).toEqual(expected)
    expect(reduce(version, 'session', state, toggle('none'))).toEqual(state)
    expect(reduce(version, 'session', { summary }, toggle('p'))).toEqual({ summary })
  })

  test.each(
    spans(['0.2.0', '0.5.1', [skill, server]], ['0.5.2', '1.0.0', [{ ...skill, enabled: false }, server]]),
  )('[V7] $version has the children $expected after a toggle of a child', ({ version, expected }) => {
    expect(customizationsAfter(version, 'session', state, toggle('s'))).toEqual([
      { ...plugin, children: expected },
    ])
  })

  test.each(spans(['0.2.0', '1.0.0', undefined]))(
    '[V7] $version replaces a whole entry, and removes entries and children',
    ({ version }) => {
      const next = { type: 'plugin', id: 'p', name: 'New' }
      const update = { type: 'session/customizationUpdated', customization: next }
      const remove = (id: string) => ({ type: 'session/customizationRemoved', id })
      expect(customizationsAfter(version, 'session', state, update)).toEqual([next])
      expect(customizationsAfter(version, 'session', { summary }, update)).toEqual([next])
      expect(customizationsAfter(version, 'session', state, remove('s'))).toEqual([
        { ...plugin, children: [server] },
      ])
      expect(customizationsAfter(version, 'session', state, remove('p'))).toEqual([])
      expect(customizationsAfter(version, 'session', state, remove('none'))).toEqual([plugin])
    },
  )

  const after = (next: object) => [{ ...plugin, children: [skill, next] }]
  const { channel: _, ...closed } = server
  test.each(
    spans(
      ['0.2.0', '0.2.0', { changed: [plugin], stopped: [plugin] }],
      ['0.3.0', '0.5.1', { changed: after({ ...closed, state: { kind: 'error' } }), stopped: [plugin] }],
      [
        '0.5.2',
        '1.0.0',
        {
          changed: after({ ...closed, state: { kind: 'error' } }),
          stopped: after({ ...closed, state: { kind: 'stopped' } }),
        },
      ],
    ),
  )('[V7] $version tells how an MCP server is: $expected', ({ version, expected }) => {
    const changed = { type: 'session/mcpServerStateChanged', id: 'm', state: { kind: 'error' } }
    expect(customizationsAfter(version, 'session', state, changed)).toEqual(expected.changed)
    const stop = { type: 'session/mcpServerStopRequested', id: 'm' }
    expect(customizationsAfter(version, 'session', state, stop)).toEqual(expected.stopped)
  })

  test('[V7] 0.1.0 has a flat list by URI, and an update changes only what it says', () => {
    const ref = (uri: string, displayName: string) => ({ uri, displayName })
    const entry = { customization: ref('x', 'X'), enabled: true, clientId: 'me', status: 'loading' }
    const list = { summary, customizations: [entry] }
    const update = { type: 'session/customizationUpdated', customization: ref('x', 'X2'), status: 'error' }
    expect(customizationsAfter('0.1.0', 'session', list, update)).toEqual([
      { customization: ref('x', 'X2'), enabled: true, clientId: 'me', status: 'error' },
    ])
    const unknown = { ...update, customization: ref('y', 'Y'), clientId: 'me' }
    expect(customizationsAfter('0.1.0', 'session', list, unknown)).toEqual([
      entry,
      { customization: ref('y', 'Y'), enabled: false, status: 'error' },
    ])
    const off = { type: 'session/customizationToggled', uri: 'x', enabled: false }
    expect(customizationsAfter('0.1.0', 'session', list, off)).toEqual([{ ...entry, enabled: false }])
    expect(reduce('0.1.0', 'session', list, { ...off, uri: 'y' })).toBe(list)
    expect(reduce('0.1.0', 'session', { summary }, off)).toEqual({ summary })
  })
})
