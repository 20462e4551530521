import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { kinds } from '../channels.ts'
import { commands, notifications } from '../commands.ts'
import { protocolDocument } from '../document.ts'
import { errorCodes } from '../errors.ts'
import { mcpMethods } from '../mcp/methods.ts'
import { knownIn, knows } from './known.ts'
import { nativeVersion, versions } from './negotiate.ts'

test('[V3] the newest version has exactly the actions, commands and notifications of the tables', () => {
  const actions = Object.values(kinds).flatMap((kind) => [...kind.actions.keys()])
  const defined = [...actions, ...commands.keys(), ...notifications.keys()]
  expect([...knownIn(nativeVersion)].toSorted()).toEqual(defined.toSorted())
})

test.each([
  ['0.1.0', 'session/turnStarted', true],
  ['0.3.0', 'session/turnStarted', true],
  ['0.4.0', 'session/turnStarted', false],
  ['0.4.0', 'chat/turnStarted', true],
  ['0.4.0', 'session/modelChanged', true],
  ['0.5.0', 'session/modelChanged', false],
  ['0.1.0', 'root/sessionAdded', false],
  ['0.2.0', 'root/sessionAdded', true],
  ['0.5.2', 'changeset/filesReviewedChanged', true],
  ['0.6.0', 'changeset/filesReviewedChanged', false],
  ['0.6.0', 'changeset/filesReviewChanged', true],
  ['0.8.0', 'automation/set', false],
  ['0.9.0', 'automation/set', true],
  ['0.9.0', 'chat/isReadChanged', false],
  ['1.0.0', 'chat/isReadChanged', true],
  ['1.0.0', 'constructor', false],
] as const)('[V3] %s and %s: %s', (version, name, known) => {
  expect(knows(version, name)).toBe(known)
})

test('[V4] the protocol is pinned by a hash, so that no change of it is accidental', () => {
  const known = versions.map((version) => [version, [...knownIn(version)].toSorted()])
  const directions = [...commands, ...notifications].map(([method, { from }]) => [method, from])
  const rules = Object.values(kinds).map(({ name, dispatchable, classes, strides, derived, rows }) => [
    name,
    [...dispatchable],
    [...classes],
    [...strides],
    derived,
    rows,
  ])
  const wire = JSON.stringify({
    known,
    document: protocolDocument(),
    directions,
    rules,
    errorCodes,
    mcpMethods,
  })
  // A failure means that the protocol has changed. Decide which version the change belongs to, then update the hash.
  expect(createHash('sha256').update(wire).digest('hex')).toBe(
    '757c61e70d4764f290c0181b7258445ddcf93367de0e1d40fe76284fd1357fd0',
  )
})
