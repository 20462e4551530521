import { expect, test } from 'vitest'
import { fields } from './config-fields.ts'

test.each([
  [{ mine: { command: '/opt/mine', args: ['acp'], env: { A: '1' }, memoryMb: 1, disabled: true } }, true],
  [{ goose: {} }, true],
  // The names of built-in agents are reserved.
  [{ atrium: { command: 'x' } }, false],
  [{ guide: { command: 'x' } }, false],
  // A misspelt key would silently do nothing.
  [{ gemini: { disable: true } }, false],
  [{ mine: { command: 'x', arg: ['y'] } }, false],
  [{ mine: { command: '' } }, false],
])('[Z31] agents: %j is valid: %j', (value, good) => {
  expect(fields.agents.accepts(value)).toBe(good)
})

test.each([
  [{ tools: { command: '/opt/tools', args: ['-v'], env: { API_KEY: 'x' } } }, true],
  [{ there: { url: 'https://tools.example/mcp', headers: { Authorization: 'Bearer x' } } }, true],
  [{ there: { url: 'http://localhost:1/sse', type: 'sse' } }, true],
  [{}, true],
  [[{ name: 'tools', command: 'x' }], false],
  [{ tools: {} }, false],
  [{ tools: { command: '' } }, false],
  [{ tools: { command: 'x', args: 'y' } }, false],
  [{ tools: { command: 'x', env: { A: 1 } } }, false],
  [{ tools: { command: 'x', headers: {} } }, false],
  [{ tools: { command: 'x', cmd: 'y' } }, false],
  [{ there: { url: 'ftp://x' } }, false],
  [{ there: { url: 'https://x', type: 'carrier pigeon' } }, false],
  [{ there: { url: 'https://x', command: 'y' } }, false],
  [{ 'a b': { command: 'x' } }, false],
  [{ docs: { url: 'https://docs.example', oauthClient: { clientId: 'a', clientSecret: 'b' } } }, true],
  [{ docs: { url: 'https://docs.example', oauthClient: { clientId: '' } } }, false],
])('[N49] mcpServers: %j is valid: %j', (value, good) => {
  expect(fields.mcpServers.accepts(value)).toBe(good)
})

const vendor = (more: object) => ({ compatible: { mine: { baseUrl: 'http://localhost:1/v1', ...more } } })

test.each([
  [vendor({}), true],
  [{ anthropic: { baseUrl: 'https://proxy.example' }, openai: false, default: 'anthropic/x' }, true],
  [vendor({ models: ['a', { id: 'b', maxContextWindow: 8192, price: { input: 1, output: 2 } }] }), true],
  [vendor({ baseUrl: 'localhost:11434/v1' }), false],
  [vendor({ baseUrl: 'file:///etc' }), false],
  // Every client could read the password in the state.
  [vendor({ baseUrl: 'https://me:secret@example.com/v1' }), false],
  [vendor({ baseUrl: 'https://example.com/v1?key=secret' }), false],
  [vendor({ baseUrl: 'https://example.com/v1#secret' }), false],
  [{ openai: { baseUrl: 'https://example.com/v1?' } }, false],
  [vendor({ models: [{ id: 'b', maxContextWindow: '8k' }] }), false],
  [vendor({ models: [{ id: 'b', name: 5 }] }), false],
  [vendor({ models: [{ id: 'b', efforts: 'high' }] }), false],
  [vendor({ models: [{ id: 'b', price: 5 }] }), false],
  [vendor({ models: [{ id: 'b', price: { input: 1, output: 2, cacheRead: 0, cacheWrite: 1.25 } }] }), true],
  [vendor({ models: [{ id: 'b', price: { input: 1, output: 2, cacheWrite: '1' } }] }), false],
  [vendor({ models: [{ id: 'b', price: { input: -1, output: 2 } }] }), false],
  [vendor({ models: [{ id: 'b', price: { output: 2 } }] }), false],
  [{ compatible: { 'a/b': { baseUrl: 'http://x' } } }, false],
  [{ compatible: { openai: { baseUrl: 'http://x' } } }, false],
])('[N20] models: %j is valid: %j', (value, good) => {
  expect(fields.models.accepts(value)).toBe(good)
})

test.each([
  [false, true],
  [{}, true],
  [{ sessionMb: 200, allMb: 2000.5 }, true],
  [true, false],
  [{ sessionMb: 0 }, false],
  [{ allMb: '8 GB' }, false],
  // A misspelt key would silently do nothing.
  [{ sessionMB: 5 }, false],
])('[O27] [O27.2] captures: %j is valid: %j', (value, good) => {
  expect(fields.captures.accepts(value)).toBe(good)
})

test.each([
  [{}, true],
  [{ allow: ['http://127.0.0.1:8080', 'https://ntfy.home'], contact: 'mailto:me@home.example' }, true],
  [{ allow: ['http://127.0.0.1:8080/'] }, false],
  [{ allow: 'http://127.0.0.1:8080' }, false],
  [{ allow: ['127.0.0.1'] }, false],
  [{ contact: 'me@home.example' }, false],
  [{ allowed: [] }, false],
])('[T20] notifications: %j is valid: %j', (value, good) => {
  expect(fields.notifications.accepts(value)).toBe(good)
})
