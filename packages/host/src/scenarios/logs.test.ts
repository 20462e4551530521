import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { rebuild } from '../kernel/log/rebuild.ts'

// Logs that earlier releases recorded. Every build must reduce them to the same states.
const folder = new URL('../../logs/', import.meta.url)
const hashes = JSON.parse(readFileSync(new URL('hashes.json', folder), 'utf8')) as Record<string, string>

test('[L7] [F-48] every recorded log exists and has a hash', () => {
  const logs = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  expect(logs.map((name) => name.replace('.jsonl', ''))).toEqual(Object.keys(hashes).toSorted())
})

test.each(Object.entries(hashes))('[L7] F-48: %s reduces to the state it was recorded with', (name, hash) => {
  const [first = '', ...actions] = readFileSync(new URL(`${name}.jsonl`, folder), 'utf8')
    .trimEnd()
    .split('\n')
  const { kind, state } = JSON.parse(first) as { kind: string; state: object }
  const envelopes = actions.map((action, i) => ({ seq: i + 1, channel: name, action }))
  const loaded = {
    kind,
    seq: 0,
    state: JSON.stringify(state),
    rowIds: [],
    rows: [],
    fromCreation: true,
    envelopes,
  }
  expect(
    createHash('sha256')
      .update(canonical(rebuild(name, loaded).state))
      .digest('hex'),
  ).toBe(hash)
})

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, child]) => `${JSON.stringify(key)}:${canonical(child)}`).join()}}`
}
